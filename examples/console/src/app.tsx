import createCache from '@emotion/cache'
import { CacheProvider } from '@emotion/react'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { createBrowserRouter, RouterProvider } from 'react-router-dom'
import { callAs } from './api/http.ts'
import { Gate } from './gate.tsx'
import { LeavingAsks } from './layout/ask-before-leaving.tsx'
import { keepFocus } from './layout/focus.ts'
import { createLeaving } from './layout/leaving.ts'
import { loaded } from './loaded.ts'
import type { Session } from './session/session.ts'
import { BASE } from './settings.ts'

/** Styles run with the nonce of the page only. */
const styles = createCache({
  key: 'c',
  nonce: document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''
})

/**
 * Who signed in, and the shop, are read once. A failure is said, also without a connection, and a button tries again:
 * the way to the server retries by itself what can be retried.
 */
const ONCE = {
  retry: false,
  staleTime: Infinity,
  refetchOnWindowFocus: false,
  refetchOnReconnect: false,
  networkMode: 'always'
} as const

/**
 * Shows the application.
 *
 * @param failure - why nobody is signed in
 * @public
 */
export function show (session: Session, failure?: Error): void {
  // Whatever page it is, it needs this, once it is known what the person may see.
  if (session.isSignedIn()) loaded(async () => await import('./workspace.tsx')).catch(() => {})
  keepFocus(document)
  const reads = new QueryClient({ defaultOptions: { queries: ONCE } })
  // Before the router: what is held is not for it.
  const leaving = createLeaving(window)
  const router = createBrowserRouter([{
    path: '*',
    element: (
      <LeavingAsks leaving={leaving}>
        <QueryClientProvider client={reads}>
          <Gate session={session} call={callAs(session)} failure={failure} />
        </QueryClientProvider>
      </LeavingAsks>
    )
  }], { basename: BASE })
  leaving.follow(router)
  createRoot(document.getElementById('root')!).render(
    <CacheProvider value={styles}>
      <RouterProvider router={router} />
    </CacheProvider>
  )
}
