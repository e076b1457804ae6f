import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { pathToFileURL } from 'node:url'
import { resolve } from 'node:path'
import { contractFromApp, MCP_FROM_ROUTES_CONTRACT_APP, type Contract } from '../contract/index.ts'
import { MCP_FROM_ROUTES_INVALID_REVIEW } from '../errors.ts'
import { LISTINGS, type Listing } from '../tool/listing.ts'

/** What is used of a Fastify app. */
interface App {
  ready: () => PromiseLike<unknown>
  close: () => PromiseLike<unknown>
  readonly server?: unknown
}

/**
 * Loads a module that exports an app, and reads the app's tools and resources. The app never listens.
 *
 * @param module - a file whose default export, else `buildApp`, is a Fastify app or a function that makes one
 * @throws {@link MCP_FROM_ROUTES_CONTRACT_APP}
 */
export async function contractFromModule (module: string, cwd: string): Promise<Contract> {
  return await withApp(module, cwd, (app) => {
    const contract = contractFromApp(app)
    if (contract === undefined) throw new MCP_FROM_ROUTES_CONTRACT_APP(module, WITHOUT_PLUGIN)
    return contract
  })
}

/**
 * Loads a module that exports an app, and has the plugin list the routes. The app never listens.
 *
 * @param use - called while the app is open
 * @throws {@link MCP_FROM_ROUTES_CONTRACT_APP}
 */
export async function listingFromModule<T> (
  module: string,
  cwd: string,
  use: (message: Listing) => T | Promise<T>
): Promise<T> {
  const messages: Listing[] = []
  const listen = (message: unknown): void => {
    messages.push(message as Listing)
  }
  subscribe(LISTINGS.name, listen)
  try {
    return await withApp(module, cwd, async (app) => {
      // A module may make other apps beside the one that it exports.
      const message = messages.find((one) => one.app.server === app.server) ?? messages.at(-1)
      if (message === undefined) throw new MCP_FROM_ROUTES_CONTRACT_APP(module, WITHOUT_PLUGIN)
      return await use(message)
    })
  } finally {
    unsubscribe(LISTINGS.name, listen)
  }
}

const WITHOUT_PLUGIN = 'provides an app without tools: mcp-from-routes is not registered, or a setting turns it off'

/**
 * Loads a module that exports an app, makes the app ready, and closes it in the end. The app never listens.
 *
 * @param use - called while the app is open
 * @throws {@link MCP_FROM_ROUTES_CONTRACT_APP}
 */
export async function withApp<T> (module: string, cwd: string, use: (app: App) => T | Promise<T>): Promise<T> {
  const app = await appFromModule(module, cwd)
  try {
    await Promise.resolve(app.ready()).catch((error: unknown) => {
      throw named(error, module, 'provides an app that does not start')
    })
    return await use(app)
  } finally {
    // Report why the app did not start, not why it cannot be closed.
    await Promise.resolve(app.close()).catch(() => {})
  }
}

/** Whether a module makes an app whenever it is asked to: it exports a function. */
export async function makesApps (module: string, cwd: string): Promise<boolean> {
  return typeof (await exportOf(module, cwd)).given === 'function'
}

const RULE = 'Its default export must be a Fastify app, or a function without arguments that makes one'

/** What a module exports as its app, unopened: an app is a promise too, of its start. */
async function exportOf (module: string, cwd: string): Promise<{ readonly given: unknown }> {
  const { default: exported, buildApp } = await importOf(module, cwd)
  // What a CommonJS module exports is the default of its import.
  const inner = isApp(exported) ? {} : Object(exported) as Exports
  return { given: inner.default ?? inner.buildApp ?? exported ?? buildApp }
}

async function appFromModule (module: string, cwd: string): Promise<App> {
  const { given } = await exportOf(module, cwd)
  if (given === undefined) {
    throw new MCP_FROM_ROUTES_CONTRACT_APP(module, `exports neither a default nor buildApp. ${RULE}`)
  }
  try {
    const app: unknown = typeof given === 'function' ? await given() : await given
    if (isApp(app)) return app
    throw new MCP_FROM_ROUTES_CONTRACT_APP(
      module,
      `provides ${app === null ? 'null' : typeof app}, not a Fastify app. ${RULE}`
    )
  } catch (error) {
    throw named(error, module, 'provides no app')
  }
}

interface Exports {
  readonly default?: unknown
  readonly buildApp?: unknown
}

async function importOf (module: string, cwd: string): Promise<Exports> {
  try {
    return await import(pathToFileURL(resolve(cwd, module)).href)
  } catch (error) {
    throw named(error, module, 'cannot be loaded')
  }
}

function isApp (value: unknown): value is App {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'ready') === 'function' &&
    typeof Reflect.get(value, 'close') === 'function'
}

function named (error: unknown, module: string, what: string): Error {
  if (error instanceof MCP_FROM_ROUTES_CONTRACT_APP || error instanceof MCP_FROM_ROUTES_INVALID_REVIEW) return error
  // Not everything that is thrown is an Error.
  const { message = String(error) } = Object(error) as { readonly message?: unknown }
  return Object.assign(new MCP_FROM_ROUTES_CONTRACT_APP(module, `${what}: ${String(message)}`), { cause: error })
}
