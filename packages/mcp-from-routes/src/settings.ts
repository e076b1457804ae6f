import { check } from './checks.ts'
import { callSettings, type CallOptions, type CallSettings } from './settings/calls.ts'
import { serverSettings, type ServerOptions, type ServerSettings } from './settings/server.ts'
import { toolSettings, type ToolOptions, type ToolSettings } from './settings/tools.ts'

export type { ServerInfo, ToolAccess } from './settings/server.ts'

/** Options of the core: the server, its tools, and their calls. */
export interface CoreOptions extends ServerOptions, ToolOptions, CallOptions {}

/** The options, read and checked. */
export interface Settings extends ServerSettings, ToolSettings, CallSettings {}

/** Options that Fastify's `register` takes itself and passes on. */
const OF_REGISTER: readonly string[] = ['logLevel', 'logSerializers', 'prefix']

/**
 * Checks the options and fills in the defaults.
 * @throws {@link MCP_FROM_ROUTES_INVALID_OPTION}
 */
export function settingsFromOptions (options: CoreOptions): Settings {
  const calls = callSettings(options)
  const settings = { ...serverSettings(options, calls.toolTimeout), ...toolSettings(options), ...calls }
  const { isAllowedOrigin, ...others } = settings
  const known = [...Object.keys(others), 'allowedOrigins', ...OF_REGISTER]
  for (const name in options) check(known.includes(name), name, 'is not an option')
  const { prefix } = options as { readonly prefix?: unknown }
  check(!prefix, 'prefix', `has no effect on a plugin of the whole app. Set path: '${String(prefix)}${settings.path}'`)
  checkScope(settings)
  return settings
}

/** What a shared cache keeps must be the same for all clients. */
function checkScope ({ cacheScope, canUse, impliedArguments, instructions }: Settings): void {
  if (cacheScope === 'private') return
  const rule = (what: string, shown: string): string =>
    `must not be public with ${what}: a cache would show one client ${shown}`
  check(canUse === undefined, 'cacheScope', rule('canUse', 'the tools of another'))
  check(
    Object.keys(impliedArguments).length === 0,
    'cacheScope',
    rule('impliedArguments', 'the arguments of another')
  )
  check(
    typeof instructions !== 'function',
    'cacheScope',
    rule('instructions that are a function', 'those of another')
  )
}
