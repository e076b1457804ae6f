import { language, preferredLanguage } from './language.ts'
import { loaded } from './loaded.ts'
import { openSession } from './session/session.ts'
import { BASE, settings } from './settings.ts'
import { speakIn } from './translation.ts'
import { refuseHtml } from './trusted-types.ts'

refuseHtml(window as never)

// Loaded at once, since it is needed whoever signs in.
const application = load()
const session = openSession(settings)

/** Its modules may read texts as soon as they are there, so the language comes before them. */
async function load (): Promise<typeof import('./app.tsx')> {
  await speakIn(preferredLanguage())
  document.documentElement.lang = language
  return await loaded(async () => await import('./app.tsx'))
}

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
