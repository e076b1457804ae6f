import type { Extension } from '../../extension.ts'
import { resources } from '../resources/index.ts'
import { registryOf } from '../resources/registry.ts'
import {
  checkCallers,
  checkView,
  toolUi,
  VIEW_MIME_TYPE,
  VIEW_SCHEME,
  viewPart,
  type McpViewPolicy,
  type Visibility
} from './view.ts'

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

declare module '../resources/config.ts' {
  interface McpRouteResource {
    /** What hosts let a view do, whose `uri` begins with `ui://`. Default is nothing but to talk to the host. */
    readonly ui?: McpViewPolicy
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
    install (core) {
      registryOf(core).kinds.push({
        scheme: VIEW_SCHEME,
        mimeType: VIEW_MIME_TYPE,
        accept: 'text/html',
        check: ({ check, resource, schema, required, variables }) =>
          checkView(check, resource, schema, required, variables)
      })
      return {
        tool ({ label, config: { mcp = {} }, published }) {
          const ui = toolUi(label, mcp, published)
          return ui === undefined ? undefined : viewPart(ui, mcp.view)
        },
        ready: ({ tools }) => checkCallers([...tools.values()])
      }
    }
  }
}
