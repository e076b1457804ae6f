import { Box, Typography } from '@mui/material'
import type { ReactNode } from 'react'
import { Menu, MenuItemLink, useBasename, useSidebarState } from 'react-admin'

/** Entries of the menu under a heading. */
export function MenuSection ({ title, children }: { readonly title?: string, readonly children: ReactNode }) {
  const [isOpen] = useSidebarState()
  return (
    <Box sx={{ mt: title === undefined ? 0 : 1.5 }}>
      {title !== undefined && isOpen && <Typography variant='caption' component='h2' color='textSecondary' sx={{ px: 2, fontWeight: 600 }}>{title}</Typography>}
      <Menu sx={{ mt: 0, mb: 0, width: 'auto' }}>{children}</Menu>
    </Box>
  )
}

/** @param to - below the workspace: `products` */
export function Entry ({ to, text, icon }: { readonly to: string, readonly text: string, readonly icon: ReactNode }) {
  const basename = useBasename()
  return <MenuItemLink to={`${basename}/${to}`} primaryText={text} leftIcon={icon} sx={{ borderRadius: 1, mx: 1, my: '1px', '&.RaMenuItemLink-active': { bgcolor: 'action.selected', fontWeight: 600, color: 'primary.main' } }} />
}
