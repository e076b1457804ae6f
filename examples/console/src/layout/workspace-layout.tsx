import AppsIcon from '@mui/icons-material/AppsOutlined'
import DocumentationIcon from '@mui/icons-material/MenuBookOutlined'
import LanguageIcon from '@mui/icons-material/Translate'
import SignOutIcon from '@mui/icons-material/LogoutOutlined'
import IdIcon from '@mui/icons-material/BadgeOutlined'
import { Box, ListItemIcon, ListItemText, MenuItem } from '@mui/material'
import {
  AppBar,
  type LayoutProps,
  LoadingIndicator,
  Sidebar,
  SkipNavigationButton,
  ToggleThemeButton,
  useBasename,
  useLogout,
  useNotify,
  UserMenu,
  useUserMenu
} from 'react-admin'
import { type ReactNode, Suspense } from 'react'
import { Link } from 'react-router-dom'
import { changeLanguage, language, type Language, LANGUAGES } from '../language.ts'
import { settings } from '../settings.ts'
import { texts } from '../texts.ts'
import { useViewer } from '../viewer.tsx'
import { useUnsaved } from './ask-before-leaving.tsx'
import { EDGE } from './edge.ts'
import { Boundary } from './boundary.tsx'
import { PageSkeleton } from './page-skeleton.tsx'
import { ReadFailed } from './read-failed.tsx'
import { WorkspaceSwitch } from './workspace-switch.tsx'

/**
 * The frame of a workspace: the bar at the top, its menu, and the page. In place of react-admin's, which has the menu
 * within the page.
 */
export function workspaceLayout (Entries: React.ComponentType): React.ComponentType<LayoutProps> {
  return function WorkspaceLayout ({ children }) {
    return (
      <Box sx={{ display: 'flex', flexDirection: 'column', minHeight: '100vh', maxWidth: '100vw' }}>
        <SkipNavigationButton />
        <Bar />
        <Box sx={{ display: 'flex', flexGrow: 1, mt: { xs: 7, sm: 6 } }}>
          <Sidebar appBarAlwaysOn>
            <Box component='nav' aria-label={texts.product} sx={{ pt: 1, pb: 3 }}>
              <Entries />
            </Box>
          </Sidebar>
          <Box component='main' id='main-content' sx={MAIN}>
            <Boundary>
              <ReadFailed />
              <Suspense fallback={<PageSkeleton />}>{children}</Suspense>
            </Boundary>
          </Box>
        </Box>
      </Box>
    )
  }
}

const MAIN = {
  display: 'flex',
  flexDirection: 'column',
  flex: '1 1 0',
  minWidth: 0,
  px: { xs: 1.5, sm: 3 },
  pt: 2,
  pb: `calc(${EDGE} + 2rem)`
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
      {LANGUAGE_CODES.filter((code) => code !== language).map((code) => <InLanguage key={code} code={code} />)}
      <SignOut />
    </UserMenu>
  )
}

const LANGUAGE_CODES = Object.keys(LANGUAGES) as Language[]

/** Loads the page in another language, which is called as its own speakers call it. */
function InLanguage ({ code }: { readonly code: Language }) {
  return (
    <LeaveItem icon={<LanguageIcon fontSize='small' />} onLeave={() => changeLanguage(code)}>
      <ListItemText primary={LANGUAGES[code]} lang={code} />
    </LeaveItem>
  )
}

function SignOut () {
  const signOut = useLogout()
  return (
    <LeaveItem
      icon={<SignOutIcon fontSize='small' />}
      onLeave={() => {
        signOut()
      }}
    >
      <ListItemText primary={texts.session.signOut} />
    </LeaveItem>
  )
}

interface LeaveItemProps {
  readonly icon: ReactNode
  readonly onLeave: () => void
  readonly children: ReactNode
}

/** An item that leaves the page. It asks before it begins: from then on there is nobody who could save. */
function LeaveItem ({ icon, onLeave, children }: LeaveItemProps) {
  const unsaved = useUnsaved()
  const menu = useUserMenu()
  return (
    <MenuItem
      onClick={() => {
        menu?.onClose()
        if (unsaved.isEmpty()) return onLeave()
        unsaved.ask({
          leave () {
            unsaved.forget()
            onLeave()
          }
        })
      }}
    >
      <ListItemIcon>{icon}</ListItemIcon>
      {children}
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
