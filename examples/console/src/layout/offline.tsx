import { useSyncExternalStore } from 'react'
import { texts } from '../texts.ts'
import { Banner } from './banner.tsx'

/** Says that there is no connection, while there is none. Reads wait for it: their places stay empty. */
export function Offline () {
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine)
  return isOnline ? null : <Banner>{texts.errors.offline}</Banner>
}

function subscribe (onChange: () => void): () => void {
  for (const event of ['online', 'offline']) window.addEventListener(event, onChange)
  return () => {
    for (const event of ['online', 'offline']) window.removeEventListener(event, onChange)
  }
}
