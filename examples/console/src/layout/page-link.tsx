import { Link as MuiLink } from '@mui/material'
import type { ReactNode } from 'react'
import { Link } from 'react-router-dom'

/** A link within the console, in the colours of the theme. */
export function PageLink ({ to, children }: { readonly to: string, readonly children: ReactNode }) {
  return <MuiLink component={Link} to={to} sx={{ fontWeight: 600 }}>{children}</MuiLink>
}
