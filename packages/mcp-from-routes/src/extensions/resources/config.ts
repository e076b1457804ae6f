import { MCP_FROM_ROUTES_INVALID_CONFIG } from '../../errors.ts'
import type { Source } from '../../model.ts'
import { frozenCopy, isObject, listIn } from '../../schema/json-schema.ts'
import type { Kind, Registry } from './registry.ts'
import { templateFrom, type UriTemplate } from './template.ts'

/** The tag in `schema.tags` that makes a GET route a resource. */
export const RESOURCE_TAG = 'mcp-resource'

/** A route's `config.mcp.resource`: how clients find what the route returns. */
export interface McpRouteResource {
  /**
   * The URI of the resource, or the template of many, whose variables are arguments of the route:
   * `shop://policies/{id}`. Each fills one segment of the URI, or a part of one.
   */
  readonly uri: string
  readonly name: string
  /** A name for people. Default is `schema.summary` when there is a description as well. */
  readonly title?: string
  /** What clients show of it. Default is `schema.description`. */
  readonly description?: string
  /**
   * The media type of the response; for a template, of every response. The route gets it as `Accept`. Default is none.
   */
  readonly mimeType?: string
}

/** A resource as clients see it; `uri` may be a template. */
export interface ResourceDefinition extends McpRouteResource {
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** What makes a tool's route a resource. */
export interface ResourceRule {
  readonly definition: ResourceDefinition
  readonly template: UriTemplate
  /** Undefined for one like a file. */
  readonly kind: Kind | undefined
}

const MIME_TYPE = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/
const FIELDS: readonly string[] = ['uri', 'name', 'title', 'description', 'mimeType', 'ui']

/** The scheme of views. Without them, no resource may have it: hosts would take it for one. */
const VIEW_SCHEME = 'ui://'

/**
 * @returns undefined for a route that is no resource
 * @throws {@link MCP_FROM_ROUTES_INVALID_CONFIG}
 */
export function resourceRule (
  { label, method, schema, config: { mcp }, input, implied, parts }: Source,
  { kinds }: Registry
): ResourceRule | undefined {
  const given: unknown = mcp?.resource
  const isTagged = schema.tags?.includes(RESOURCE_TAG) ?? false
  if (given === undefined && !isTagged) return undefined
  const check = (holds: boolean, problem: string): void => {
    if (!holds) throw new MCP_FROM_ROUTES_INVALID_CONFIG(label, problem)
  }
  check(isTagged, `resource needs the tag ${RESOURCE_TAG}`)
  check(isObject(given), `resource is missing, which the tag ${RESOURCE_TAG} needs: { uri, name }`)
  const { uri, ui, ...texts } = given as Record<string, unknown>
  const unknown = Object.keys(given as object).find((name) => !FIELDS.includes(name))
  check(unknown === undefined, `resource.${unknown} is unknown. Known: ${FIELDS.join(', ')}`)
  for (const name of ['name', ...Object.keys(texts)]) {
    check(typeof texts[name] === 'string' && texts[name] !== '', `resource.${name} must be a non-empty string`)
  }
  const {
    name,
    title = schema.description === undefined ? undefined : schema.summary,
    description = schema.description ?? schema.summary,
    mimeType
  } = texts as { name: string, title?: string, description?: string, mimeType?: string }
  check(
    mimeType === undefined || MIME_TYPE.test(mimeType),
    'resource.mimeType must be a media type in small letters, without parameters'
  )
  check(method === 'GET', 'resource needs a GET route: reading must change nothing')
  check(
    !parts.some(({ asks, output }) => asks === true || output === false),
    'resource excludes confirm and task: a resource is read at once, and nobody is asked'
  )
  const template = typeof uri === 'string' ? templateFrom(uri) : 'must be a string'
  if (typeof template === 'string') throw new MCP_FROM_ROUTES_INVALID_CONFIG(label, `resource.uri ${template}`)
  const stranger = template.variables.find((variable) =>
    !input.places.has(variable) || input.places.get(variable) === 'body'
  )
  check(
    stranger === undefined,
    `resource.uri has the variable ${stranger}, which is no argument of the route. Arguments: ` +
      `${[...input.places.keys()].join(', ')}`
  )
  const kind = kinds.find(({ scheme }) => (uri as string).startsWith(scheme))
  check(
    kind !== undefined || !(uri as string).startsWith(VIEW_SCHEME),
    `resource.uri begins with ${VIEW_SCHEME}, so it is a view. Import { views } from 'mcp-from-routes/views' and add ` +
      'views() to the option extensions'
  )
  const required = listIn(input.schema.required) as readonly string[]
  check(kind !== undefined || ui === undefined, `resource.ui is for views: resource.uri begins with ${VIEW_SCHEME}`)
  kind?.check({ check, resource: { ui, mimeType }, schema, required, variables: template.variables })
  const missing = required.find((argument) => !template.variables.includes(argument) && !implied.includes(argument))
  check(
    missing === undefined,
    `resource.uri lacks a variable for the required argument ${missing}. Add {${missing}}, or supply it by ` +
      'impliedArguments'
  )
  const type = kind?.mimeType ?? mimeType
  return {
    template,
    kind,
    definition: frozenCopy<ResourceDefinition>({
      uri: uri as string,
      name,
      ...title && { title },
      ...description && { description },
      ...type && { mimeType: type },
      ...ui !== undefined && { _meta: { ui } }
    })
  }
}
