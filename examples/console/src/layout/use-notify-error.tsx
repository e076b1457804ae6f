import { useNotify } from 'react-admin'
import { ErrorText } from './of-server.tsx'

/** Says what went wrong, until somebody has seen it. */
export function useNotifyError (): (error: Error) => void {
  const notify = useNotify()
  return (error) => notify(<ErrorText error={error} />, { type: 'error', autoHideDuration: null, multiLine: true })
}
