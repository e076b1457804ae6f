import { channel } from 'node:diagnostics_channel'
import type { FastifyInstance, FastifySchema } from 'fastify'
import type { Extension } from '../extension.ts'
import type { Tool } from '../model.ts'
import type { Candidate } from './catalog.ts'
import type { SeenRoute } from './routes-so-far.ts'

/**
 * How a command gets at the routes of an app: while something listens to this channel, the plugin publishes them
 * instead of making tools of them. Its name is shared by all copies of the package in a process.
 */
export const LISTINGS = channel('mcp-from-routes.listing')

/** What the plugin publishes when the app is ready. */
export interface Listing {
  readonly app: FastifyInstance
  readonly extensions: readonly Extension[]
  /** All routes that could be tools. */
  readonly listed: readonly Candidate[]
  /** Those that were registered before the plugin. */
  readonly earlier: readonly SeenRoute[]
  readonly isTagged: (schema: FastifySchema) => boolean
  /** @throws an error of this package, when the route cannot be a tool */
  readonly read: (candidate: Candidate) => Tool
}
