import type { Extension } from '../../extension.ts'
import { RESOURCE_TAG, type McpRouteResource } from './config.ts'

export type { McpRouteResource, ResourceDefinition } from './config.ts'

declare module '../../types.ts' {
  interface McpRouteConfig {
    /**
     * The URI, name and media type of the resource that a GET route with the tag `mcp-resource` is. Clients read it by a
     * request to the route, as its caller. With the tag of tools as well, the route is both. Default is none.
     */
    readonly resource?: McpRouteResource
  }
}

/**
 * GET routes with the tag `mcp-resource` are resources.
 * @returns for the option `extensions`
 */
export function resources (): Extension {
  return { name: 'mcp-from-routes/resources', keys: ['resource'], tag: RESOURCE_TAG, settings: () => ({}) }
}
