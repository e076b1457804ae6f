import type { FastifySchema } from 'fastify'
import type { Core, Served } from '../../extension.ts'

/** A kind of resource: those whose URIs begin with a scheme. */
export interface Kind {
  readonly scheme: string
  /** The media type that clients see, whatever the route sends. */
  readonly mimeType: string
  /** What the route sends. It gets it as `Accept`. */
  readonly accept: string
  readonly check: (checked: CheckedResource) => void
}

/** What is checked of a resource of a kind. */
export interface CheckedResource {
  readonly check: (holds: boolean, problem: string) => void
  /** Its `config.mcp.resource`. */
  readonly resource: Readonly<Record<string, unknown>>
  readonly schema: FastifySchema
  readonly required: readonly string[]
  readonly variables: readonly string[]
}

/** Resources that have no route. */
export interface Shelf {
  /** Whether it has any at the endpoint. */
  readonly isAt: (message: Served) => boolean
  readonly listed: (message: Served) => Promise<readonly object[]>
  /** @returns undefined for a URI that is not one of them, or that is hidden */
  readonly read: (uri: string, message: Served) => Promise<object | undefined>
}

/** What other rooms add to the resources of one application. */
export interface Registry {
  readonly kinds: Kind[]
  readonly shelves: Shelf[]
}

const registries = new WeakMap<Core['app'], Registry>()

/** That of an application. */
export function registryOf ({ app }: Pick<Core, 'app'>): Registry {
  const registry = registries.get(app) ?? { kinds: [], shelves: [] }
  registries.set(app, registry)
  return registry
}
