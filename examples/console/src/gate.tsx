import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useEffect } from 'react'
import { Navigate, Route, Routes, useParams } from 'react-router-dom'
import type { Call } from './api/http.ts'
import { loaded } from './loaded.ts'
import { FullPage, Problem, Waiting } from './layout/full-page.tsx'
import { later } from './layout/later.tsx'
import { ErrorText } from './layout/of-server.tsx'
import { SignInAgain } from './session/sign-in-again.tsx'
import type { Session } from './session/session.ts'
import { texts } from './texts.ts'
import { openShop, readViewer, ShopContext, useViewer, ViewerContext } from './viewer.tsx'

const Administration = lazy(async () => await loaded(async () => await import('./administration.tsx')))
const NoShops = later(async () => (await import('./layout/no-shops.tsx')).NoShops)
const ShopWorkspace = lazy(async () => await loaded(async () => await import('./shop-workspace.tsx')))

/** The shop that was open last, to start there. */
const LAST_SHOP = 'shop-console.last-shop'

/** Lets in who signed in, and leads to the shop or the administration that the URL names. */
export function Gate (
  { session, call, failure }: { readonly session: Session, readonly call: Call, readonly failure?: Error | undefined }
) {
  if (failure !== undefined) {
    return (
      <FullPage
        title={texts.session.failed}
        text={<ErrorText error={failure} />}
        action={texts.session.signIn}
        onAction={() => {
          session.signIn().catch(() => location.reload())
        }}
        isAlert
      />
    )
  }
  if (!session.isSignedIn()) {
    return (
      <FullPage
        title={texts.session.signedOut}
        text={texts.session.signedOutWhy}
        action={texts.session.signIn}
        onAction={() => {
          session.signIn().catch(() => location.reload())
        }}
      />
    )
  }
  return (
    <>
      <SignInAgain session={session} />
      <SignedIn session={session} call={call} />
    </>
  )
}

function SignedIn ({ session, call }: { readonly session: Session, readonly call: Call }) {
  const { data: viewer, error, refetch } = useQuery({
    queryKey: ['viewer'],
    queryFn: async () => await readViewer(session, call)
  })
  if (error !== null) return <Problem error={error} onAgain={async () => await refetch()} />
  if (viewer === undefined) return <Waiting />
  return (
    <ViewerContext.Provider value={viewer}>
      <Suspense fallback={<Waiting />}>
        <Routes>
          <Route path='/shops/:slug/*' element={<ShopOfPath />} />
          {viewer.isAdmin && <Route path='/admin/*' element={<Administration />} />}
          <Route path='*' element={<Start />} />
        </Routes>
      </Suspense>
    </ViewerContext.Provider>
  )
}

/** The first page: administration for admins, the last shop for everybody else. */
function Start () {
  const { isAdmin, shops } = useViewer()
  if (isAdmin) return <Navigate to='/admin' replace />
  const shop = shops.find(({ slug }) => slug === localStorage.getItem(LAST_SHOP)) ?? shops[0]
  return shop === undefined ? <NoShops /> : <Navigate to={`/shops/${shop.slug}`} replace />
}

function ShopOfPath () {
  const { slug = '' } = useParams()
  const viewer = useViewer()
  // Read when it is opened, each time: another shop's lists must not meet this URL, not even once, since they would
  // write their filters into it.
  const { data: shop, error, refetch } = useQuery({
    queryKey: ['shop', slug],
    queryFn: async () => await openShop(viewer, slug) ?? null,
    gcTime: 0
  })
  const opened = shop?.slug
  useEffect(() => {
    if (opened !== undefined) localStorage.setItem(LAST_SHOP, opened)
  }, [opened])
  if (error !== null) return <Problem error={error} onAgain={async () => await refetch()} />
  if (shop === null) {
    return (
      <FullPage
        title={texts.errors.title}
        text={texts.errors.noShop}
        action={texts.errors.back}
        onAction={() => location.assign('/console')}
        isAlert
      />
    )
  }
  if (shop === undefined) return <Waiting />
  return (
    <ShopContext.Provider value={shop}>
      <ShopWorkspace key={shop.id} />
    </ShopContext.Provider>
  )
}
