import type { Extension, Route } from '../../extension.ts'
import type { Part } from '../../model.ts'
import {
  RESOURCE_TAG,
  resourceRule,
  type McpRouteResource,
  type ResourceDefinition,
  type ResourceRule
} from './config.ts'
import { resourceReader } from './read.ts'
import { registryOf } from './registry.ts'
import { resourcesFrom, type Resource } from './resources.ts'
import { serveResources } from './serve.ts'

export type { McpRouteResource, ResourceDefinition } from './config.ts'

declare module '../../types.ts' {
  interface McpRouteConfig {
    /**
     * The URI, name and media type of the resource that a GET route with the tag `mcp-resource` is. Clients read it by
     * a request to the route, as its caller. With the tag of tools as well, the route is both. Default is none.
     */
    readonly resource?: McpRouteResource
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    /** The resources as clients see them, sorted by their URIs and frozen. Empty until the application is ready. */
    readonly mcpResources: readonly ResourceDefinition[]
  }
}

/**
 * GET routes with the tag `mcp-resource` are resources.
 * @returns for the option `extensions`
 */
export function resources (): Extension {
  return {
    name: 'mcp-from-routes/resources',
    keys: ['resource'],
    tag: RESOURCE_TAG,
    install (core) {
      const { app, settings, maxParamLength } = core
      const registry = registryOf(core)
      const rules = new WeakMap<Part, ResourceRule>()
      let all: readonly Resource[] = []
      let definitions: readonly ResourceDefinition[] = Object.freeze([])
      app.decorate('mcpResources', { getter: () => definitions })
      const read = resourceReader(app, settings, maxParamLength)
      return {
        onRoute: (route) => isResource(route) ? { callable: true } : undefined,
        tool (source) {
          const rule = resourceRule(source, registry)
          if (rule === undefined) return undefined
          const part: Part = {}
          rules.set(part, rule)
          return part
        },
        ready ({ callable }) {
          all = resourcesFrom(callable.flatMap((tool) =>
            tool.part.all.flatMap((part) => {
              const rule = rules.get(part)
              return rule === undefined ? [] : [{ tool, rule }]
            })
          ))
          definitions = Object.freeze(all.map(({ rule }) => rule.definition))
        },
        serve: (server, message) => serveResources(server, message, { all, read, registry, settings }),
        contract: () => ({ resources: new Map(definitions.map(({ uri, ...definition }) => [uri, definition])) })
      }
    }
  }
}

/**
 * Whether a route is to be a resource, as far as it says: half of what that takes is an error, which the reader of the
 * route finds.
 */
function isResource ({ method, schema, config }: Route): boolean {
  return method !== 'HEAD' && method !== 'OPTIONS' &&
    (schema?.tags?.includes(RESOURCE_TAG) === true || config?.mcp?.resource !== undefined)
}
