import type { Extension } from '../../extension.ts'
import { resources } from '../resources/index.ts'
import type { Visibility } from './view.ts'

export type { McpViewPolicy, Visibility } from './view.ts'

declare module '../../types.ts' {
  interface McpRouteConfig {
    /**
     * The route of the view that hosts with MCP Apps show in place of the result, as it was registered:
     * `'GET /views/products'`. That route is a resource whose URI begins with `ui://`. The result stays as it is.
     * Default is none.
     */
    readonly view?: string
    /**
     * Who may call the tool: `['app']` leaves it to views. Hosts with MCP Apps obey; other clients show the tool to
     * their models all the same. Default is both.
     */
    readonly visibility?: Visibility
  }
}

/**
 * Resources whose URI begins with `ui://` are views, which hosts with MCP Apps show in place of a result. Brings
 * `resources()` along.
 * @returns for the option `extensions`
 */
export function views (): Extension {
  return {
    name: 'mcp-from-routes/views',
    keys: ['view', 'visibility'],
    needs: [resources()],
    settings: () => ({})
  }
}
