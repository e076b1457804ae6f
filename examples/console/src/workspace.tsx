import { CssBaseline } from '@mui/material'
import { QueryClient } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { AdminContext, type AuthProvider, CoreAdminUI, Error as ErrorPage, LoadingPage } from 'react-admin'
import { dataProviderFor } from './api/data-provider.ts'
import { i18nProvider } from './i18n.ts'
import { Announcements } from './layout/announcements.tsx'
import { Conflicts, createSettling, SettlingContext } from './layout/conflicts.tsx'
import { DiscardQuestion } from './layout/discard-question.tsx'
import { NotFound } from './layout/not-found.tsx'
import { Toasts } from './layout/toasts.tsx'
import { workspaceLayout } from './layout/workspace-layout.tsx'
import { storeFor } from './store.ts'
import { darkTheme, lightTheme } from './theme.ts'
import { useViewer, type Viewer } from './viewer.tsx'

interface WorkspaceProps {
  /** Where it is, below the application: `/admin`. */
  readonly path: string
  /** The root of its resources on the server: `/shops/<id>`, or an empty string. */
  readonly root: string
  readonly home: React.ComponentType<any>
  /** Always the same component: another one would rebuild the whole page. */
  readonly menu: React.ComponentType
  readonly children: ReactNode
}

/** react-admin on the lists below one root. Each workspace keeps what it read to itself. */
export function Workspace ({ path, root, home, menu, children }: WorkspaceProps) {
  const viewer = useViewer()
  const settling = useMemo(() => createSettling(), [root])
  const dataProvider = useMemo(() => dataProviderFor(root, viewer.call, settling.settle), [root, viewer, settling])
  const authProvider = useMemo(() => authProviderFor(viewer), [viewer])
  // The way to the server retries by itself what can be retried. Without a connection, reads wait for it and writes
  // fail.
  const queryClient = useMemo(
    () =>
      new QueryClient({
        defaultOptions: { queries: { retry: false, staleTime: 2000 }, mutations: { networkMode: 'always' } }
      }),
    [root]
  )
  const store = useMemo(() => storeFor(root), [root])
  const layout = useMemo(() => workspaceLayout(menu), [menu])
  return (
    <SettlingContext.Provider value={settling}>
      <AdminContext
        basename={path}
        dataProvider={dataProvider}
        authProvider={authProvider}
        i18nProvider={i18nProvider}
        queryClient={queryClient}
        store={store}
        theme={lightTheme}
        darkTheme={darkTheme}
      >
        <CssBaseline enableColorScheme />
        <Announcements>
          <CoreAdminUI
            dashboard={home}
            layout={layout}
            catchAll={NotFound}
            loading={LoadingPage}
            error={ErrorPage}
            title=''
            disableTelemetry
          >
            {children}
          </CoreAdminUI>
          <Toasts />
          <Conflicts />
          <DiscardQuestion />
        </Announcements>
      </AdminContext>
    </SettlingContext.Provider>
  )
}

/** The session handles what ends it; so an error of a call never signs anybody out. */
function authProviderFor ({ id, name, session, isAdmin }: Viewer): AuthProvider {
  return {
    login: async () => await session.signIn(),
    logout: async () => {
      await session.signOut()
      return false
    },
    checkAuth: async () => {},
    checkError: async () => {},
    getIdentity: async () => ({ id, fullName: name }),
    getPermissions: async () => ({ isAdmin })
  }
}
