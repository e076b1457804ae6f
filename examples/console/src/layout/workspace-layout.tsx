import AppsIcon from '@mui/icons-material/AppsOutlined'
import DocumentationIcon from '@mui/icons-material/MenuBookOutlined'
import SignOutIcon from '@mui/icons-material/LogoutOutlined'
import IdIcon from '@mui/icons-material/BadgeOutlined'
import { Box, ListItemIcon, ListItemText, MenuItem } from '@mui/material'
import {
  AppBar,
  Layout,
  type LayoutProps,
  LoadingIndicator,
  ToggleThemeButton,
  useBasename,
  useLogout,
  useNotify,
  UserMenu,
  useUserMenu
} from 'react-admin'
import { Link } from 'react-router-dom'
import { settings } from '../settings.ts'
import { texts } from '../texts.ts'
import { useViewer } from '../viewer.tsx'
import { useUnsaved } from './ask-before-leaving.tsx'
import { ReadFailed } from './read-failed.tsx'
import { WorkspaceSwitch } from './workspace-switch.tsx'

/** The frame of a workspace: the bar at the top, and its menu. */
export function workspaceLayout (Entries: React.ComponentType): React.ComponentType<LayoutProps> {
  const Menu = () => (
    <Box component='nav' aria-label={texts.product} sx={{ pt: 1, pb: 3 }}>
      <Entries />
    </Box>
  )
  return function WorkspaceLayout (props) {
    return (
      <Layout {...props} appBar={Bar} menu={Menu} appBarAlwaysOn sx={LAYOUT}>
        <ReadFailed />
        {props.children}
      </Layout>
    )
  }
}

const LAYOUT = {
  '& .RaLayout-content': { px: { xs: 1.5, sm: 3 }, pt: 2, pb: 4, minWidth: 0 },
  '& .RaLayout-contentWithSidebar': { maxWidth: '100vw' }
} as const

function Bar () {
  return (
    <AppBar
      alwaysOn
      color='transparent'
      userMenu={<Person />}
      toolbar={
        <>
          <LoadingIndicator />
          <ToggleThemeButton />
        </>
      }
    >
      <WorkspaceSwitch />
      <Box sx={{ flex: 1 }} />
    </AppBar>
  )
}

function Person () {
  const { id, name } = useViewer()
  const notify = useNotify()
  const copyId = () => {
    navigator.clipboard.writeText(id).then(
      () => notify(texts.copy.copied),
      () => notify(id, { autoHideDuration: null })
    )
  }
  return (
    <UserMenu label={name}>
      <MenuItem onClick={copyId}>
        <ListItemIcon>
          <IdIcon fontSize='small' />
        </ListItemIcon>
        <ListItemText primary={texts.noShops.copy} secondary={id.slice(0, 8) + '…'} />
      </MenuItem>
      {settings.connected_apps && <Apps />}
      <MenuItem component='a' href='/docs'>
        <ListItemIcon>
          <DocumentationIcon fontSize='small' />
        </ListItemIcon>
        <ListItemText primary={texts.layout.documentation} />
      </MenuItem>
      <SignOut />
    </UserMenu>
  )
}

/** Asks before it begins: from then on there is nobody who could save. */
function SignOut () {
  const signOut = useLogout()
  const unsaved = useUnsaved()
  const menu = useUserMenu()
  return (
    <MenuItem
      onClick={() => {
        menu?.onClose()
        if (unsaved.mayLeave()) signOut()
      }}
    >
      <ListItemIcon>
        <SignOutIcon fontSize='small' />
      </ListItemIcon>
      <ListItemText primary={texts.session.signOut} />
    </MenuItem>
  )
}

function Apps () {
  const basename = useBasename()
  const menu = useUserMenu()
  return (
    <MenuItem component={Link} to={`${basename}/apps`} onClick={menu?.onClose}>
      <ListItemIcon>
        <AppsIcon fontSize='small' />
      </ListItemIcon>
      <ListItemText primary={texts.apps.title} />
    </MenuItem>
  )
}
