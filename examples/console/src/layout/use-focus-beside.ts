import { type RefObject, useLayoutEffect, useRef } from 'react'

/**
 * Keeps the focus in the row whose dialog has closed: where the button that opened it is gone with what was done, the
 * focus goes to what stays beside it, not to the heading far above.
 *
 * @param isOpen - whether the dialog is open
 * @returns what stays
 */
export function useFocusBeside<Place extends HTMLElement> (isOpen: boolean): RefObject<Place> {
  const place = useRef<Place>(null)
  const wasOpen = useRef(false)
  // Before the focus is given to the heading. A dialog whose button is still there gives it back to that later.
  useLayoutEffect(() => {
    if (wasOpen.current && !isOpen && document.activeElement === document.body) place.current?.focus()
    wasOpen.current = isOpen
  }, [isOpen])
  return place
}
