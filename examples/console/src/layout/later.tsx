import { lazy } from 'react'
import { loaded } from '../loaded.ts'

/** A component whose code is loaded when it is first shown. */
export function later (load: () => Promise<React.ComponentType>): React.LazyExoticComponent<React.ComponentType> {
  return lazy(async () => ({ default: await loaded(load) }))
}
