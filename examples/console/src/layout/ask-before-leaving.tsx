import { createContext, type ReactNode, useContext, useEffect, useLayoutEffect, useMemo, useState } from 'react'
import { useBlocker } from 'react-router-dom'
import { DiscardDialog } from './discard-dialog.tsx'
import { SystemTheme } from './full-page.tsx'

/** What would be lost if the page were left. */
interface Unsaved {
  /** @returns what to call when it is saved */
  readonly add: () => () => void
  /** Goes on at once if nothing would be lost, else once the person agrees to lose it. */
  readonly leave: (goOn: () => void) => void
  /** Lets the page be left without a question. */
  readonly forget: () => void
}

const UnsavedContext = createContext<Unsaved | undefined>(undefined)

/**
 * Asks before another page, Back, a reload and the end of the window, while an {@link AskBeforeLeaving} is shown in it.
 */
export function LeavingAsks ({ children }: { readonly children: ReactNode }) {
  const [parts] = useState(() => new Set<symbol>())
  const [goOn, setGoOn] = useState<() => void>()
  const blocker = useBlocker(({ currentLocation, nextLocation }) =>
    currentLocation.pathname !== nextLocation.pathname && parts.size > 0
  )
  const unsaved = useMemo<Unsaved>(() => ({
    add () {
      const part = Symbol('unsaved')
      parts.add(part)
      return () => {
        parts.delete(part)
      }
    },
    leave (next) {
      if (parts.size === 0) next()
      else setGoOn(() => next)
    },
    forget: () => parts.clear()
  }), [parts])
  // The browser asks itself: a page can only say that it should.
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => {
      if (parts.size > 0) event.preventDefault()
    }
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [parts])
  const isAsking = blocker.state === 'blocked' || goOn !== undefined
  return (
    <UnsavedContext.Provider value={unsaved}>
      {children}
      {isAsking && (
        <SystemTheme>
          <DiscardDialog
            onStay={() => {
              setGoOn(undefined)
              blocker.reset?.()
            }}
            onDiscard={() => {
              parts.clear()
              setGoOn(undefined)
              if (blocker.state === 'blocked') blocker.proceed()
              else goOn?.()
            }}
          />
        </SystemTheme>
      )}
    </UnsavedContext.Provider>
  )
}

/** What the page would lose, for those who leave it by other ways than a link. */
export function useUnsaved (): Unsaved {
  return useContext(UnsavedContext)!
}

/** Shown while something would be lost by leaving the page. */
export function AskBeforeLeaving () {
  const unsaved = useUnsaved()
  useLayoutEffect(() => unsaved.add(), [unsaved])
  return null
}
