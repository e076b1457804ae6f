import { Button, Paper, Typography } from '@mui/material'
import { texts } from '../texts.ts'
import { useViewer } from '../viewer.tsx'
import { CopyField } from './copy-field.tsx'
import { useDocumentTitle } from './document-title.ts'
import { Bare } from './full-page.tsx'

/** For people whom no shop has let in yet. */
export function NoShops () {
  const { name, id, session } = useViewer()
  useDocumentTitle(texts.noShops.title(name))
  return (
    <Bare>
      <Paper sx={{ p: 4, maxWidth: 560, width: '100%' }}>
        <Typography variant='h1' gutterBottom>{texts.noShops.title(name)}</Typography>
        <Typography color='textSecondary' sx={{ mb: 2 }}>{texts.noShops.why}</Typography>
        <CopyField label={texts.layout.yourId} text={id} />
        <Button
          sx={{ mt: 2 }}
          onClick={() => {
            session.signOut()
          }}
        >
          {texts.session.signOut}
        </Button>
      </Paper>
    </Bare>
  )
}
