import { withoutRegistration } from '#shared/option-table'
import { check, settingsBy } from './checks.ts'
import { CALLS, headerSettings, type CallOptions, type CallSettings } from './settings/calls.ts'
import { SERVER, serverSettings, type ServerOptions, type ServerSettings } from './settings/server.ts'
import { TOOLS, type ToolOptions, type ToolSettings } from './settings/tools.ts'

export type { ServerInfo, ToolAccess } from './settings/server.ts'

/** Options of the core: the server, its tools, and their calls. */
export interface CoreOptions extends ServerOptions, ToolOptions, CallOptions {}

/** The options, read and checked. */
export interface Settings extends ServerSettings, ToolSettings, CallSettings {}

/**
 * Checks the options and fills in the defaults.
 * @throws {@link MCP_FROM_ROUTES_INVALID_OPTION}
 */
export function settingsFromOptions (options: CoreOptions): Settings {
  const { prefix, ...own } = withoutRegistration(options) as CoreOptions & { readonly prefix?: unknown }
  const given = settingsBy({ ...SERVER, ...TOOLS, ...CALLS }, own)
  const { allowedOrigins: _allowedOrigins, ...others } = given
  check(!prefix, 'prefix', `has no effect on a plugin of the whole app. Set path: '${String(prefix)}${given.path}'`)
  const settings = { ...others, ...headerSettings(given), ...serverSettings(given, given.toolTimeout) }
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
