import { Box, Typography } from '@mui/material'
import type { ReactNode } from 'react'
import { Menu, MenuItemLink, useBasename, useSidebarState } from 'react-admin'
import { useMatch } from 'react-router-dom'

/** Entries of the menu under a title. It is no heading: those are of the page, and begin with its name. */
export function MenuSection ({ title, children }: { readonly title?: string, readonly children: ReactNode }) {
  const [isOpen] = useSidebarState()
  return (
    <Box role={title === undefined ? undefined : 'group'} aria-label={title} sx={{ mt: title === undefined ? 0 : 1.5 }}>
      {title !== undefined && isOpen && (
        <Typography variant='caption' component='div' aria-hidden color='textSecondary' sx={{ px: 2, fontWeight: 600 }}>
          {title}
        </Typography>
      )}
      <Menu role='none' tabIndex={undefined} sx={{ mt: 0, mb: 0, width: 'auto' }}>{children}</Menu>
    </Box>
  )
}

/**
 * A link to a page of the workspace.
 *
 * @param to - below the workspace: `products`
 */
export function Entry ({ to, text, icon }: { readonly to: string, readonly text: string, readonly icon: ReactNode }) {
  const path = `${useBasename()}/${to}`
  const isCurrent = useMatch({ path, end: to === '' }) !== null
  return (
    <MenuItemLink
      role='link'
      aria-current={isCurrent ? 'page' : undefined}
      to={path}
      primaryText={text}
      leftIcon={icon}
      sx={{
        borderRadius: 1,
        mx: 1,
        my: '1px',
        '&.RaMenuItemLink-active': { bgcolor: 'action.selected', fontWeight: 600, color: 'primary.main' }
      }}
    />
  )
}
