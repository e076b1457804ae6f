import type { Test } from 'tap'
import type { Extension, McpRouteConfig } from '../../src/index.ts'

/** The routes of the application in which two extensions meet. */
export type RouteName = 'orders' | 'ship' | 'build' | 'report' | 'other' | 'extra' | 'page'

/** What a route says for an extension. */
export interface Says {
  readonly tags?: readonly string[]
  readonly mcp?: McpRouteConfig
}

/** A message that was sent, and what came back. */
export interface Exchange {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly result: Record<string, unknown> | undefined
  readonly error: { readonly code: number, readonly message: string } | undefined
}

/** An extension as an application gets it. */
export interface Made {
  readonly extension: Extension
  /** What is wrong with an exchange, apart from its answer. */
  readonly watch?: (exchange: Exchange) => string | undefined
}

/** Everything that the table needs to know of an extension. Each room has one, in `pair.ts`. */
export interface Described {
  /** What it reads. @param names - of all that the application has */
  readonly files?: (names: readonly string[]) => Readonly<Record<string, unknown>>
  /** @param folder - its files */
  readonly make: (t: Test, folder: string) => Made
  readonly routes?: Readonly<Partial<Record<RouteName, Says>>>
  /**
   * Where an application that has only this one differs from one that has none: by a path into what is observed of it,
   * whose parts are separated by `|`. `watch` stands for what only {@link Made.watch} sees.
   */
  readonly adds: Readonly<Partial<Record<'list' | 'call' | 'error' | 'contract', string>>>
}
