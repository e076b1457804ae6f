import { lazy } from 'react'

/** A component whose code is loaded when it is first shown. */
export function later (load: () => Promise<React.ComponentType>): React.LazyExoticComponent<React.ComponentType> {
  return lazy(async () => ({ default: await load() }))
}
