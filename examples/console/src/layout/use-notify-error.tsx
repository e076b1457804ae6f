import { useNotify } from 'react-admin'

/** Says what went wrong, until somebody has seen it. */
export function useNotifyError (): (error: { readonly message: string }) => void {
  const notify = useNotify()
  return ({ message }) => notify(message, { type: 'error', autoHideDuration: null, multiLine: true })
}
