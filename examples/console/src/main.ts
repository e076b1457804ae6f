import { loaded } from './loaded.ts'
import { openSession } from './session/session.ts'
import { BASE, settings } from './settings.ts'
import { refuseHtml } from './trusted-types.ts'

refuseHtml(window as never)

// Loaded at once, since it is needed whoever signs in.
const application = loaded(async () => await import('./app.tsx'))
const session = openSession(settings)

/** Signs in first: nothing here can be seen without it. */
async function start (): Promise<void> {
  // The sign-in returns to one origin only, where its state has to be.
  if (location.origin !== settings.origin) {
    location.replace(settings.origin + location.pathname + location.search)
    return
  }
  const isReturn = location.pathname === new URL(settings.sign_in.callback).pathname
  if (isReturn && session.isSecondWindow()) return await session.completeSecondWindow()
  if (isReturn) history.replaceState(null, '', await session.complete())
  else if (session.wasSignedOut()) {
    if (location.pathname !== BASE) history.replaceState(null, '', BASE)
  } else return await session.signIn()
}

start().then(
  async () => {
    if (session.isSignedIn() || session.wasSignedOut()) (await application).show(session)
  },
  async (error: unknown) => {
    ;(await application).show(session, error instanceof Error ? error : new Error(String(error)))
  }
)
