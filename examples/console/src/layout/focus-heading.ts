import { useEffect } from 'react'

/** Gives the focus to the heading: what follows is the page. */
export function focusHeading (): void {
  document.querySelector<HTMLElement>('h1')?.focus()
}

/** The same after something that takes its button away. Somebody who has moved on meanwhile stays where they are. */
export function focusHeadingFrom (place: string): void {
  const { activeElement: active, body } = document
  if (active === body || active?.closest(place) != null) focusHeading()
}

/** After a dialog, if what had opened it is gone: a deleted row, the actions of a selection. */
export function useFocusAfterDialog (): void {
  useEffect(() => () => {
    // The dialog gives the focus back first.
    setTimeout(() => {
      if (document.activeElement === document.body) focusHeading()
    })
  }, [])
}
