import { lazy, Suspense, useEffect, useState } from 'react'
import { Navigate, Route, Routes, useParams } from 'react-router-dom'
import type { Call } from './api/http.ts'
import { loaded } from './loaded.ts'
import { FullPage, Problem, Waiting } from './layout/full-page.tsx'
import { later } from './layout/later.tsx'
import { SignInAgain } from './session/sign-in-again.tsx'
import type { Session } from './session/session.ts'
import { texts } from './texts.ts'
import { type OpenShop, openShop, readViewer, ShopContext, useViewer, type Viewer, ViewerContext } from './viewer.tsx'

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
        text={failure.message}
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
  const [viewer, setViewer] = useState<Viewer>()
  const [error, setError] = useState<Error>()
  const [tries, setTries] = useState(0)
  useEffect(() => {
    setError(undefined)
    readViewer(session, call).then(setViewer, setError)
  }, [session, call, tries])
  if (error !== undefined) return <Problem error={error} onAgain={() => setTries(tries + 1)} />
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
  const [shop, setShop] = useState<OpenShop | null>()
  const [error, setError] = useState<Error>()
  const [tries, setTries] = useState(0)
  useEffect(() => {
    let isCurrent = true
    setShop(undefined)
    setError(undefined)
    openShop(viewer, slug).then((shop) => {
      if (!isCurrent) return
      setShop(shop ?? null)
      if (shop !== undefined) localStorage.setItem(LAST_SHOP, slug)
    }, (error: Error) => {
      if (isCurrent) setError(error)
    })
    return () => {
      isCurrent = false
    }
  }, [viewer, slug, tries])
  if (error !== undefined) return <Problem error={error} onAgain={() => setTries(tries + 1)} />
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
  // Another shop's lists must not meet this URL, not even once: they would write their filters into it.
  if (shop?.slug !== slug) return <Waiting />
  return (
    <ShopContext.Provider value={shop}>
      <ShopWorkspace key={shop.id} />
    </ShopContext.Provider>
  )
}
