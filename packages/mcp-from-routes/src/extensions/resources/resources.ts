import { MCP_FROM_ROUTES_INVALID_CONFIG } from '../../errors.ts'
import type { Tool } from '../../model.ts'
import type { ResourceRule } from './config.ts'
import { overlap, valuesFromUri } from './template.ts'

/** A route that is a resource, with what its tool would be: calls of that are how it is read. */
export interface Resource {
  readonly tool: Tool
  readonly rule: ResourceRule
}

/** A resource that a URI names, and the arguments of its route. */
export interface FoundResource {
  readonly resource: Resource
  readonly args: Readonly<Record<string, string>>
}

/**
 * The resources among the routes, sorted by their URIs.
 * @throws {@link MCP_FROM_ROUTES_INVALID_CONFIG} if two could answer for the same URI
 */
export function resourcesFrom (all: readonly Resource[]): readonly Resource[] {
  for (const [index, one] of all.entries()) {
    // The URI of one resource takes precedence over a template.
    const other = all.slice(0, index).find((earlier) =>
      isTemplate(one) === isTemplate(earlier) && overlap(one.rule.template, earlier.rule.template)
    )
    if (other !== undefined) {
      throw new MCP_FROM_ROUTES_INVALID_CONFIG(
        one.tool.label,
        `resource.uri ${one.rule.definition.uri} is also what ${other.rule.definition.uri} of ` +
          `${other.tool.label} can be`
      )
    }
  }
  return [...all].sort((a, b) => a.rule.definition.uri < b.rule.definition.uri ? -1 : 1)
}

/** The resource that a URI names. A template does not step in for a resource that has the URI for itself. */
export function resourceAt (resources: readonly Resource[], uri: string): FoundResource | undefined {
  const exact = resources.find(({ rule }) => rule.definition.uri === uri)
  if (exact !== undefined && !isTemplate(exact)) return { resource: exact, args: {} }
  for (const resource of resources) {
    const args = valuesFromUri(resource.rule.template, uri)
    if (args !== undefined) return { resource, args }
  }
  return undefined
}

export function isTemplate ({ rule }: Resource): boolean {
  return rule.template.variables.length > 0
}
