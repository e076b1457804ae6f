import type { createBrowserRouter } from 'react-router-dom'
import { afterRest, type Hold, holdAfterPop, restOf } from './hold.ts'

/** A question before what was typed is lost. */
export interface LeavingQuestion {
  /** Called once what was typed may be lost. */
  readonly leave: () => void
  readonly stay?: () => void
}

/** What would be lost if the page were left, and the question about it. */
export interface Leaving {
  /** @returns what to call when it is saved */
  readonly add: () => () => void
  readonly isEmpty: () => boolean
  /** Lets the page be left without a question. */
  readonly forget: () => void
  /** Asks; the latest question counts. */
  readonly ask: (question: LeavingQuestion) => void
  readonly answer: (isLeaving: boolean) => void
  readonly question: () => LeavingQuestion | undefined
  /** @returns ends it */
  readonly onQuestion: (listener: () => void) => () => void
  /** Follows the pages that the router shows. */
  readonly follow: (router: ReturnType<typeof createBrowserRouter>) => void
}

/**
 * Holds the history while something would be lost. Made before the router, which does not see what is held: its own
 * blocker takes one step back at a time, and loses count when there are two.
 */
export function createLeaving (window: Window): Leaving {
  const { history, location } = window
  const parts = new Set<symbol>()
  const listeners = new Set<() => void>()
  const atRest: (() => void)[] = []
  let question: LeavingQuestion | undefined
  let hold: Hold | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let shown = place()

  const setQuestion = (next?: LeavingQuestion): void => {
    question = next
    for (const listener of listeners) listener()
  }
  const wait = (next: Hold): void => {
    hold = next
    clearTimeout(timer)
    timer = setTimeout(rest, restOf(next))
  }
  const release = (): void => {
    clearTimeout(timer)
    hold = undefined
    for (const next of atRest.splice(0)) next()
  }
  const rest = (): void => {
    const { hold: next, go, ask } = afterRest(hold!, place().index ?? hold!.shown)
    if (next !== undefined) wait(next)
    if (go !== undefined) return history.go(go)
    release()
    if (ask !== undefined && question === undefined && parts.size > 0) {
      leaving.ask({
        leave () {
          leaving.forget()
          history.go(ask)
        }
      })
    }
  }
  window.addEventListener('popstate', (event) => {
    const at = place()
    const isLeaving = parts.size > 0 && at.path !== shown.path
    if (at.index === undefined || shown.index === undefined || (hold === undefined && !isLeaving)) {
      shown = at
      if (hold !== undefined) release()
      return
    }
    event.stopImmediatePropagation()
    // A step while it asks is an accident: it has been asked about.
    wait(holdAfterPop(hold, shown.index, question === undefined ? at.index : shown.index))
  }, { capture: true })
  // The browser asks itself: a page can only say that it should.
  window.addEventListener('beforeunload', (event) => {
    if (parts.size > 0) event.preventDefault()
  })

  const leaving: Leaving = {
    add () {
      const part = Symbol('unsaved')
      parts.add(part)
      return () => {
        parts.delete(part)
      }
    },
    isEmpty: () => parts.size === 0,
    forget: () => parts.clear(),
    ask: setQuestion,
    answer (isLeaving) {
      const answered = question
      setQuestion()
      if (!isLeaving) {
        // Who stays is not asked again about a step that came before the answer.
        if (hold !== undefined) hold = { ...hold, wanted: hold.shown }
        answered?.stay?.()
      } else if (answered !== undefined && hold !== undefined) atRest.push(answered.leave)
      else answered?.leave()
    },
    question: () => question,
    onQuestion (listener) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
    follow (router) {
      let { location: last } = router.state
      shown = place()
      router.subscribe(({ location: next }) => {
        if (next === last) return
        const isOther = next.pathname !== last.pathname
        last = next
        shown = place()
        if (hold !== undefined) release()
        if (isOther && question !== undefined) setQuestion()
      })
    }
  }
  return leaving

  function place () {
    const { idx } = (history.state ?? {}) as { readonly idx?: number }
    return { index: idx, path: location.pathname }
  }
}
