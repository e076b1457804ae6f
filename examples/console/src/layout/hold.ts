/** The browser's history while it is not where the page is: somebody wanted to leave what is not saved. */
export interface Hold {
  /** The entry whose page is shown. Entries are counted as the router counts them. */
  readonly shown: number
  /** The entry that somebody wanted. */
  readonly wanted: number
  /** How often the browser was sent back to the page. */
  readonly tries: number
}

/** @returns the hold after the browser has come to the entry that somebody wanted */
export function holdAfterPop (hold: Hold | undefined, shown: number, wanted: number): Hold {
  if (hold === undefined) return { shown, wanted, tries: 0 }
  // Later ones may be the answer to being sent back.
  return hold.tries === 0 ? { ...hold, wanted } : hold
}

/** What follows once the browser has come to rest. */
export interface Rest {
  /** Undefined once the browser is where the page is. */
  readonly hold?: Hold
  /** How far the browser is sent. */
  readonly go?: number
  /** How far somebody wanted to go: asked now. */
  readonly ask?: number
}

/**
 * It sends the browser back only when it has come to rest: a step is counted from where the browser is when the step is
 * made, so that one amid others leads elsewhere. That is where the router's own blocker fails.
 */
export function afterRest (hold: Hold, at: number): Rest {
  const { shown, wanted, tries } = hold
  if (at !== shown) return { hold: { ...hold, tries: tries + 1 }, go: shown - at }
  return wanted === shown ? {} : { ask: wanted - shown }
}

/** @returns after how many milliseconds without another step the browser rests: longer, if that was too short */
export function restOf ({ tries }: Hold): number {
  return 50 * 2 ** Math.min(tries, 5)
}
