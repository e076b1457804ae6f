import { Alert, Button, Dialog, DialogActions, DialogContent, DialogContentText, DialogTitle } from '@mui/material'
import { useEffect, useState } from 'react'
import { useUnsaved } from '../layout/ask-before-leaving.tsx'
import { Banner } from '../layout/banner.tsx'
import { SystemTheme } from '../layout/full-page.tsx'
import { Offline } from '../layout/offline.tsx'
import { BASE } from '../settings.ts'
import { texts } from '../texts.ts'
import { type Session, SessionEnded } from './session.ts'

interface Asked {
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/**
 * Asks to sign in again when the session has ended; what waits for a token goes on after that. Who does not want to is
 * asked by the next save, or at the lower edge.
 */
export function SignInAgain ({ session }: { readonly session: Session }) {
  const unsaved = useUnsaved()
  const [asked, setAsked] = useState<Asked>()
  const [failed, setFailed] = useState(false)
  const [isDeclined, setDeclined] = useState(false)
  useEffect(() => {
    session.onEnded(async () =>
      await new Promise<void>((resolve, reject) => {
        setDeclined(false)
        setAsked({ resolve, reject })
      })
    )
  }, [session])

  const close = () => {
    setAsked(undefined)
    setFailed(false)
  }
  const startAfresh = () => {
    unsaved.forget()
    location.assign(BASE)
  }
  const signIn = () =>
    session.signInAgain().then((isSame) => {
      if (!isSame) return startAfresh()
      asked?.resolve()
      close()
      setDeclined(false)
    }, () => setFailed(true))
  const giveUp = () => {
    setDeclined(true)
    asked?.reject(new SessionEnded(texts.session.endedNotSent))
    close()
  }
  return (
    <SystemTheme>
      <Offline />
      {isDeclined && (
        <Banner
          action={
            <Button
              color='inherit'
              onClick={() => {
                signIn()
              }}
            >
              {texts.session.signInAgain}
            </Button>
          }
        >
          {failed ? texts.session.blocked : texts.session.endedStill}
        </Banner>
      )}
      <Dialog open={asked !== undefined} onClose={giveUp} aria-labelledby='ended-title'>
        <DialogTitle id='ended-title'>{texts.session.ended}</DialogTitle>
        <DialogContent>
          <DialogContentText>{texts.session.endedWhy}</DialogContentText>
          {failed && <Alert severity='error' sx={{ mt: 2 }}>{texts.session.blocked}</Alert>}
        </DialogContent>
        <DialogActions>
          <Button onClick={giveUp}>{texts.session.later}</Button>
          <Button
            variant='contained'
            onClick={() => {
              signIn()
            }}
            autoFocus
          >
            {texts.session.signInAgain}
          </Button>
        </DialogActions>
      </Dialog>
    </SystemTheme>
  )
}
