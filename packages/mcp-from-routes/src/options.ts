import type { Extension } from './extension.ts'
import type { CoreOptions } from './settings.ts'

/** Options of the plugin. Wrong ones fail at startup with `MCP_FROM_ROUTES_INVALID_OPTION`. */
export interface McpFromRoutesOptions extends CoreOptions {
  /**
   * What the server has beside tools, and what some tools have more than others: `[confirm(), skills('./skills')]`.
   * Each is a function of a subpath, such as `mcp-from-routes/confirm`. Default is none.
   */
  readonly extensions?: readonly Extension[]
}
