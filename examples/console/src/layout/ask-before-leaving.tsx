import { createContext, type ReactNode, useContext, useEffect, useLayoutEffect, useState } from 'react'
import { useBlocker } from 'react-router-dom'
import { texts } from '../texts.ts'

/** What would be lost if the page were left. */
interface Unsaved {
  /** @returns what to call when it is saved */
  readonly add: () => () => void
  readonly isEmpty: () => boolean
  /** Whether the page may be left: nothing would be lost, or the person agrees to lose it. */
  readonly mayLeave: () => boolean
  /** Lets the page be left without a question. */
  readonly forget: () => void
}

const UnsavedContext = createContext<Unsaved | undefined>(undefined)

/**
 * Asks before another page, Back, a reload and the end of the window, while an {@link AskBeforeLeaving} is shown in it.
 */
export function LeavingAsks ({ children }: { readonly children: ReactNode }) {
  const [unsaved] = useState(createUnsaved)
  // It asks within the navigation: with a question that comes later, somebody could leave twice.
  useBlocker(({ currentLocation, nextLocation }) =>
    currentLocation.pathname !== nextLocation.pathname && !unsaved.mayLeave()
  )
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => {
      if (!unsaved.isEmpty()) event.preventDefault()
    }
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [unsaved])
  return <UnsavedContext.Provider value={unsaved}>{children}</UnsavedContext.Provider>
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

function createUnsaved (): Unsaved {
  const parts = new Set<symbol>()
  const forget = () => parts.clear()
  return {
    add () {
      const part = Symbol('unsaved')
      parts.add(part)
      return () => {
        parts.delete(part)
      }
    },
    isEmpty: () => parts.size === 0,
    mayLeave () {
      if (parts.size > 0 && !window.confirm(`${texts.unsaved.title} ${texts.unsaved.why}`)) return false
      forget()
      return true
    },
    forget
  }
}
