import { Alert } from '@mui/material'
import type { ReactNode } from 'react'

/** Says what is amiss with the whole page, at its lower edge. */
export function Banner ({ action, children }: { readonly action?: ReactNode, readonly children: ReactNode }) {
  return (
    <Alert
      severity='warning'
      variant='filled'
      action={action}
      sx={{ position: 'fixed', insetInline: 0, bottom: 0, zIndex: 'snackbar', borderRadius: 0 }}
    >
      {children}
    </Alert>
  )
}
