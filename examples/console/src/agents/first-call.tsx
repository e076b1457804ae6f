import CheckIcon from '@mui/icons-material/CheckCircleOutlined'
import { Alert, CircularProgress } from '@mui/material'
import { ErrorText } from '../layout/of-server.tsx'
import { texts } from '../texts.ts'
import { clientText } from './key-use.ts'
import { useKeyUse } from './use-key-use.ts'

/** How often the server is asked, in milliseconds. */
const EVERY = 2000

/** Waits for the first call of a key, and names the client that connects with it. */
export function FirstCall ({ keyId }: { readonly keyId: string }) {
  const { data, error } = useKeyUse(keyId, (use) => use !== undefined && use.calls > 0 ? false : EVERY)
  const client = data?.clients[0]
  const tool = data?.tools[0]?.tool
  const isUsed = client !== undefined || tool !== undefined || (data?.last_used_at ?? null) !== null
  const called = (): string => {
    if (tool !== undefined) return texts.keys.called(tool)
    if (!isUsed) return texts.keys.waiting
    return client === undefined ? texts.keys.used : texts.keys.noCall
  }
  const text = [...client === undefined ? [] : [texts.keys.connectedAs(clientText(client))], called()].join(' ')
  if (error !== null) {
    return (
      <Alert severity='warning' sx={{ mt: 2 }}>
        <ErrorText error={error} />
      </Alert>
    )
  }
  return (
    <Alert
      role='status'
      severity={isUsed ? 'success' : 'info'}
      icon={isUsed ? <CheckIcon /> : <CircularProgress size={20} color='inherit' aria-hidden />}
      sx={{ mt: 2, overflowWrap: 'anywhere' }}
    >
      {text}
    </Alert>
  )
}
