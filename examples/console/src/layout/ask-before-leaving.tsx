import { createContext, type ReactNode, useContext, useEffect, useLayoutEffect } from 'react'
import { useBlocker } from 'react-router-dom'
import type { Leaving } from './leaving.ts'

const LeavingContext = createContext<Leaving | undefined>(undefined)

/** Asks before another page, while an {@link AskBeforeLeaving} is shown in it. */
export function LeavingAsks ({ leaving, children }: { readonly leaving: Leaving, readonly children: ReactNode }) {
  // The steps of the browser are held before the router sees them.
  const blocker = useBlocker(({ currentLocation, nextLocation, historyAction }) =>
    historyAction !== 'POP' && currentLocation.pathname !== nextLocation.pathname && !leaving.isEmpty()
  )
  useEffect(() => {
    if (blocker.state !== 'blocked') return
    leaving.ask({
      leave () {
        leaving.forget()
        blocker.proceed()
      },
      stay: blocker.reset
    })
  }, [blocker, leaving])
  return <LeavingContext.Provider value={leaving}>{children}</LeavingContext.Provider>
}

/** What the page would lose, for those who leave it by other ways than a link. */
export function useUnsaved (): Leaving {
  return useContext(LeavingContext)!
}

/** Shown while something would be lost by leaving the page. */
export function AskBeforeLeaving () {
  const unsaved = useUnsaved()
  useLayoutEffect(() => unsaved.add(), [unsaved])
  return null
}
