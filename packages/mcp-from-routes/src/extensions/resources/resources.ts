import { MCP_FROM_ROUTES_INVALID_CONFIG } from '../../errors.ts'
import type { Tool } from '../../tool/tool.ts'
import type { ResourceRule } from './config.ts'
import { overlap, valuesFromUri } from './template.ts'

/** A route that is a resource, with what its tool would be: calls of that are how it is read. */
export type Resource = Tool & { readonly resource: ResourceRule }

/** A resource that a URI names, and the arguments of its route. */
export interface FoundResource {
  readonly resource: Resource
  readonly args: Readonly<Record<string, string>>
}

/**
 * The resources among the routes, sorted by their URIs.
 * @throws {@link MCP_FROM_ROUTES_INVALID_CONFIG} if two could answer for the same URI
 */
export function resourcesFrom (tools: readonly Tool[]): readonly Resource[] {
  const all = tools.filter((tool): tool is Resource => tool.resource !== undefined)
  for (const [index, one] of all.entries()) {
    // The URI of one resource takes precedence over a template.
    const other = all.slice(0, index).find((earlier) =>
      isTemplate(one) === isTemplate(earlier) && overlap(one.resource.template, earlier.resource.template)
    )
    if (other !== undefined) {
      throw new MCP_FROM_ROUTES_INVALID_CONFIG(
        labelOf(one),
        `resource.uri ${one.resource.definition.uri} is also what ${other.resource.definition.uri} of ` +
          `${labelOf(other)} can be`
      )
    }
  }
  return [...all].sort((a, b) => a.resource.definition.uri < b.resource.definition.uri ? -1 : 1)
}

/** The resource that a URI names. A template does not step in for a resource that has the URI for itself. */
export function resourceAt (resources: readonly Resource[], uri: string): FoundResource | undefined {
  const exact = resources.find(({ resource }) => resource.definition.uri === uri)
  if (exact !== undefined && !isTemplate(exact)) return { resource: exact, args: {} }
  for (const resource of resources) {
    const args = valuesFromUri(resource.resource.template, uri)
    if (args !== undefined) return { resource, args }
  }
  return undefined
}

export function isTemplate ({ resource }: Resource): boolean {
  return resource.template.variables.length > 0
}

function labelOf ({ public: { route } }: Tool): string {
  return `${route.method} ${route.url}`
}
