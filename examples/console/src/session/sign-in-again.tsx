import { Alert, Button, Dialog, DialogActions, DialogContent, DialogContentText, DialogTitle } from '@mui/material'
import { useEffect, useState } from 'react'
import { SystemTheme } from '../layout/full-page.tsx'
import { texts } from '../texts.ts'
import { type Session, SessionEnded } from './session.ts'

interface Asked { readonly resolve: () => void, readonly reject: (error: Error) => void }

/** Asks to sign in again when the session has ended; what waits for a token goes on after that. */
export function SignInAgain ({ session }: { readonly session: Session }) {
  const [asked, setAsked] = useState<Asked>()
  const [failed, setFailed] = useState(false)
  useEffect(() => { session.onEnded(async () => await new Promise<void>((resolve, reject) => setAsked({ resolve, reject }))) }, [session])

  const close = () => { setAsked(undefined); setFailed(false) }
  const signIn = () => session.signInAgain().then(() => { asked?.resolve(); close() }, () => setFailed(true))
  const giveUp = () => { asked?.reject(new SessionEnded(texts.session.ended)); close() }
  return (
    <SystemTheme>
      <Dialog open={asked !== undefined} onClose={giveUp} aria-labelledby='ended-title'>
        <DialogTitle id='ended-title'>{texts.session.ended}</DialogTitle>
        <DialogContent>
          <DialogContentText>{texts.session.endedWhy}</DialogContentText>
          {failed && <Alert severity='error' sx={{ mt: 2 }}>{texts.session.blocked}</Alert>}
        </DialogContent>
        <DialogActions>
          <Button onClick={giveUp}>{texts.session.later}</Button>
          <Button variant='contained' onClick={() => { signIn() }} autoFocus>{texts.session.signInAgain}</Button>
        </DialogActions>
      </Dialog>
    </SystemTheme>
  )
}
