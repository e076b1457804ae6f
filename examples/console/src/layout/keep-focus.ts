/**
 * Buttons that are busy are disabled, and what is disabled loses the focus: a keyboard would start at the top of the page
 * again. The button gets it back when it is enabled, unless the focus has moved on by then.
 */
export function keepFocus (document: Document): void {
  let last: EventTarget | null = null
  document.addEventListener('focusin', ({ target }) => {
    // A dialog takes the focus that its button has lost.
    if (!(last instanceof HTMLElement && last.matches(':disabled') && (target as Node).contains(last))) last = target
  })
  new MutationObserver(() => {
    if (last instanceof HTMLElement && last.matches(':enabled') && last !== document.activeElement && document.activeElement?.contains(last)) last.focus()
  }).observe(document, { subtree: true, attributes: true, attributeFilter: ['disabled'] })
}
