import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify'
import type { TProperties, TSchema } from '@sinclair/typebox'
import type { AuditBody } from './admin/audit-schemas.ts'
import type { ItemBody } from './admin/run-schemas.ts'
import type { PayProvider } from './provider/types.ts'
import type { BulkRunner } from './reconcile/runner.ts'
import type { Ending } from './reconcile/shop.ts'
import type { NewRun, RunStore } from './reconcile/types.ts'
import type { AccountStore } from './types.ts'

/**
 * What adds to the core. A function of a subpath makes it, such as `schedule()` of `pay-reconcile/schedule`; what is in
 * it is not part of the public interface.
 */
export interface Extension {
  /** Its import, as errors name it. */
  readonly name: string
  /**
   * Checks its options, and takes part in what follows. Called once for each registration, before its routes.
   * @throws {@link PAY_RECONCILE_INVALID_OPTION}
   */
  readonly install: (core: Core) => Hooks
}

/** What the core offers to an extension. */
export interface Core {
  readonly app: FastifyInstance
  readonly log: FastifyBaseLogger
  readonly accounts: AccountStore
  readonly provider: PayProvider
  /** Bulk runs; undefined without the option `runs`. */
  readonly bulk: { readonly runs: RunStore, readonly runner: BulkRunner } | undefined
  /** Does something at startup, and again after each lease, until the app closes. */
  readonly repeatedly: (attempt: () => Promise<void>) => void
  /**
   * Whether the tables are known to be the right ones. Nothing may start by itself before: it could be about other
   * accounts.
   */
  readonly isChecked: () => boolean
}

/** What an extension does, and when. */
export interface Hooks {
  /** Like `ready` of a store. */
  readonly ready?: () => Promise<void>
  /** A part of a run has ended, and that is stored. */
  readonly partEnded?: (run: NewRun, shopId: string, ending: Ending) => Promise<void>
  /** Adds routes under `prefix`, without `authorize`. */
  readonly routes?: (scope: FastifyInstance) => void
  /** Sends a list as a file, if a request wants one. */
  readonly file?: FileFormat
}

/** A format of files that lists can be sent in. */
export interface FileFormat {
  /** By which a request wants a file. */
  readonly parameters: TProperties
  /** The schema of a response that is JSON or a file. */
  readonly response: (schema: TSchema, description: string) => object
  /** @throws {@link PAY_RECONCILE_VALIDATION} if the request also wants a page */
  readonly isWanted: (query: Readonly<Record<string, unknown>>) => boolean
  readonly sendItems: (reply: FastifyReply, items: AllRecords<ItemBody>) => Promise<FastifyReply>
  readonly sendChanges: (reply: FastifyReply, changes: AllRecords<AuditBody>) => Promise<FastifyReply>
}

/** A list without its pages. */
export interface AllRecords<Body> {
  /** Of the file, without characters that a header cannot hold. */
  readonly name: string
  readonly read: (
    page: { readonly skip: number, readonly limit: number }
  ) => Promise<{ readonly records: readonly Body[], readonly count: number }>
  /** Is asked before each page but the first: a client that reads slowly may lose its access meanwhile. */
  readonly mayContinue: () => boolean | Promise<boolean>
}
