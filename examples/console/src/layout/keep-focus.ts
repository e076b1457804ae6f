/** What cannot have the focus for now. */
const RESTING = ':disabled, [inert] *'

/**
 * Buttons that are busy are disabled and fields that are being saved are inert, and both lose the focus: a keyboard
 * would start at the top of the page again. They get it back afterwards, unless the focus has moved on by then.
 */
export function keepFocus (document: Document): void {
  let last: EventTarget | null = null
  document.addEventListener('focusin', ({ target }) => {
    // A dialog takes the focus that its button has lost.
    if (!(last instanceof HTMLElement && last.matches(RESTING) && (target as Node).contains(last))) last = target
  })
  new MutationObserver(() => {
    if (
      last instanceof HTMLElement && !last.matches(RESTING) && last !== document.activeElement &&
      document.activeElement?.contains(last)
    ) last.focus()
  }).observe(document, { subtree: true, attributes: true, attributeFilter: ['disabled', 'inert'] })
}
