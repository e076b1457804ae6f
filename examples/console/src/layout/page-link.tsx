import { Link as MuiLink } from '@mui/material'
import type { ReactNode } from 'react'
import { Link } from 'react-router-dom'

/** A link within the console, in the colours of the theme. In a row that can be clicked, the click is the link's. */
export function PageLink ({ to, children }: { readonly to: string, readonly children: ReactNode }) {
  return (
    <MuiLink
      component={Link}
      to={to}
      sx={{ fontWeight: 600, overflowWrap: 'break-word' }}
      onClick={(event) => event.stopPropagation()}
    >
      {children}
    </MuiLink>
  )
}
