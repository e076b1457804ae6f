/** What cannot have the focus for now. */
const RESTING = ':disabled, [inert] *'

/** What rests only until an answer comes. */
const BUSY = ':has([role=progressbar]), [inert] *, [aria-busy=true] *'

/** What is close to something that went away, and says where one is. */
const PLACE = '[role=group][aria-label], nav[aria-label]'

/**
 * Keeps the focus from falling to the top of the page, where a keyboard would start again and a screen reader be lost:
 *
 * - Buttons that are busy are disabled and fields that are being saved are inert. They get the focus back afterwards.
 * - Where what had it is gone, hidden or disabled for good, such as a deleted row, the focus goes to the dialog or
 *   group around it, else to the heading of the page.
 *
 * Whoever has moved on meanwhile stays where they are.
 */
export function keepFocus (document: Document): void {
  let last: HTMLElement | undefined
  let around: readonly Element[] = []
  let isPlanned = false

  document.addEventListener('focusin', ({ target }) => {
    // A dialog takes the focus that its button has lost.
    if (last?.matches(RESTING) === true && (target as Node).contains(last)) return
    last = target as HTMLElement
    around = ancestorsOf(last)
  })
  // A click beside everything takes the focus away, and means it.
  document.addEventListener('pointerdown', ({ target }) => {
    if (last?.contains(target as Node) !== true) last = undefined
  }, { capture: true })

  const check = (): void => {
    isPlanned = false
    const active = document.activeElement ?? document.body
    const isElsewhere = active !== document.body && !active.contains(last ?? null)
    if (last === undefined || isElsewhere || !document.hasFocus()) return
    const isBusy = last.isConnected && last.matches(BUSY)
    const isThere = last.isConnected && !last.matches(RESTING) && last.checkVisibility({ visibilityProperty: true })
    if (!isBusy && !isThere) land(around)
    if (isThere && active !== last) last.focus()
  }
  new MutationObserver(() => {
    if (isPlanned) return
    isPlanned = true
    // What closes or moves gives the focus on by itself first.
    setTimeout(check)
  }).observe(document, {
    subtree: true,
    childList: true,
    attributes: true,
    attributeFilter: ['disabled', 'inert', 'class', 'aria-hidden']
  })
}

/** @param around - what was around the element that is gone, the nearest first */
function land (around: readonly Element[]): void {
  const dialog = [...document.querySelectorAll('[role=dialog]')].at(-1)
  const place = around.find((element) => element.isConnected && element.matches(PLACE))
  if (dialog !== undefined) focusOn(dialog)
  else if (place !== undefined) focusOn(place)
  // What follows the heading is the page.
  else focusOn(document.querySelector('h1') ?? document.querySelector('main'))
}

function focusOn (element: Element | null): void {
  if (!(element instanceof HTMLElement)) return
  if (!element.hasAttribute('tabindex')) element.tabIndex = -1
  element.focus()
}

function ancestorsOf (element: Element): readonly Element[] {
  const ancestors: Element[] = []
  for (let place = element.parentElement; place !== null; place = place.parentElement) ancestors.push(place)
  return ancestors
}
