import { useEffect } from 'react'
import { useBlocker } from 'react-router-dom'
import { texts } from '../texts.ts'

/**
 * While it is shown, a question comes before another page, Back, a reload and the end of the window. Only the latest one
 * asks, so it is shown only while something would be lost.
 */
export function AskBeforeLeaving () {
  const blocker = useBlocker(({ currentLocation, nextLocation }) => currentLocation.pathname !== nextLocation.pathname)
  useEffect(() => {
    if (blocker.state !== 'blocked') return
    if (window.confirm(`${texts.unsaved.title} ${texts.unsaved.why}`)) blocker.proceed()
    else blocker.reset()
  }, [blocker])
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => { event.preventDefault() }
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [])
  return null
}
