import type { FastifySchema } from 'fastify'
import { isObject } from '../../schema/json-schema.ts'
import { MCP_FROM_ROUTES_INVALID_CONFIG } from '../../errors.ts'
import type { Part, Tool } from '../../model.ts'
import type { ToolDefinition } from '../../types.ts'

/** The scheme of views in {@link McpRouteResource.uri}. No other resource may have it. */
export const VIEW_SCHEME = 'ui://'
/**
 * @see
 * [MCP Apps 2026-01-26](https://github.com/modelcontextprotocol/ext-apps/blob/main/specification/2026-01-26/apps.mdx)
 */
export const VIEW_MIME_TYPE = 'text/html;profile=mcp-app'

/** What a host lets a view do. Hosts show and enforce it; without it a view reaches nothing but the host. */
export interface McpViewPolicy {
  /**
   * Origins such as `https://cdn.example.com` or `https://*.example.com`, by what the view does with them. Default is
   * none.
   */
  readonly csp?: {
    /** `fetch`, XMLHttpRequest and WebSocket (`wss://…`). */
    readonly connectDomains?: readonly string[],
    /** Images, scripts, style sheets, fonts, audio and video. */
    readonly resourceDomains?: readonly string[],
    /** Frames inside the view. */
    readonly frameDomains?: readonly string[],
    /** What `<base href>` may name. */
    readonly baseUriDomains?: readonly string[]
  }
  /** What the view asks the browser for. A host may refuse. */
  readonly permissions?: Readonly<
    Partial<Record<'camera' | 'microphone' | 'geolocation' | 'clipboardWrite', Readonly<Record<string, never>>>>
  >
  /** An origin of its own, in the form that the host's documentation prescribes. Default is the host's. */
  readonly domain?: string
  /** Whether the host draws a border and a background. Default is the host's choice. */
  readonly prefersBorder?: boolean
}

const DOMAINS: readonly string[] = ['connectDomains', 'resourceDomains', 'frameDomains', 'baseUriDomains']
const PERMISSIONS: readonly string[] = ['camera', 'microphone', 'geolocation', 'clipboardWrite']
/** Anything else would end the directive of a policy in which a host writes it, or admit more than one site. */
const ORIGIN =
  /^(?:(?:https|wss):\/\/(?:\*\.(?=[^.]+\.))?[a-z0-9-]+(?:\.[a-z0-9-]+)*|(?:http|ws):\/\/(?:localhost|127\.0\.0\.1))(?::\d{1,5})?$/
/** Hosts name it with or without the scheme. */
const DOMAIN = /^(?:https:\/\/)?[a-z0-9-]+(?:\.[a-z0-9-]+)+$/

type Check = (holds: boolean, problem: string) => void

/** Checks `resource.ui`, and that the route of a view returns HTML without being told anything. */
export function checkView (
  check: Check,
  { ui, mimeType }: Readonly<Record<string, unknown>>,
  schema: FastifySchema,
  required: readonly string[],
  variables: readonly string[]
): void {
  check(mimeType === undefined, `resource.mimeType must be left out: that of a view is ${VIEW_MIME_TYPE}`)
  const argument = required[0] ?? variables[0]
  check(
    argument === undefined,
    `resource.uri begins with ${VIEW_SCHEME}, and hosts read a view without arguments: ${argument} has to go`
  )
  check(
    returnsHtml(schema.response),
    "is a view, which needs the response schema of HTML: response: { 200: { content: { 'text/html': { schema: { " +
      "type: 'string' } } } } }"
  )
  if (ui !== undefined) checkPolicy(check, ui)
}

function checkPolicy (check: Check, ui: unknown): void {
  const known = (value: unknown, path: string, names: readonly string[]): Record<string, unknown> => {
    check(isObject(value), `${path} must be an object`)
    const unknown = Object.keys(value as object).find((name) => !names.includes(name))
    check(unknown === undefined, `${path}.${unknown} is unknown. Known: ${names.join(', ')}`)
    return value as Record<string, unknown>
  }
  const { csp = {}, permissions = {}, domain = 'a.example', prefersBorder = true } = known(ui, 'resource.ui', [
    'csp',
    'permissions',
    'domain',
    'prefersBorder'
  ])
  for (const [name, domains] of Object.entries(known(csp, 'resource.ui.csp', DOMAINS))) {
    check(Array.isArray(domains), `resource.ui.csp.${name} must be an array of origins`)
    const wrong = (domains as unknown[]).find((origin) => !isOrigin(origin))
    check(
      wrong === undefined,
      `resource.ui.csp.${name} has ${JSON.stringify(wrong)}, which is no origin such as https://cdn.example.com ` +
        'or https://*.example.com'
    )
  }
  for (const [name, value] of Object.entries(known(permissions, 'resource.ui.permissions', PERMISSIONS))) {
    check(isObject(value) && Object.keys(value).length === 0, `resource.ui.permissions.${name} must be {}`)
  }
  check(
    typeof domain === 'string' && DOMAIN.test(domain),
    'resource.ui.domain must be a host such as shop.hosts.example, or its https origin'
  )
  check(typeof prefersBorder === 'boolean', 'resource.ui.prefersBorder must be true or false')
}

/** Ports end at 65535, which only parsing tells. */
function isOrigin (origin: unknown): boolean {
  return typeof origin === 'string' && ORIGIN.test(origin) && URL.canParse(origin.replace('*.', ''))
}

function returnsHtml (response: unknown): boolean {
  const successes = Object.entries(isObject(response) ? response : {}).filter(([status]) =>
    /^2(\d\d|xx)$/i.test(status)
  )
  return successes.length > 0 &&
    successes.every(([, answer]) =>
      isObject(answer) && isObject(answer.content) && Object.keys(answer.content).join() === 'text/html'
    )
}

/** Who calls a tool: models, views, or both. */
export type Visibility = ReadonlyArray<'model' | 'app'>

/** `_meta.ui` of a tool. */
export interface ToolUi {
  readonly resourceUri?: string
  readonly visibility?: Visibility
}

/**
 * What a tool says of its view.
 * @param label - the tool's route
 * @param mcp - its `config.mcp`
 * @param published - the `config.mcp` of all routes that are published
 * @throws {@link MCP_FROM_ROUTES_INVALID_CONFIG}
 */
export function toolUi (
  label: string,
  { view, visibility }: { readonly view?: unknown, readonly visibility?: unknown },
  published: ReadonlyMap<string, object>
): ToolUi | undefined {
  const check = (holds: boolean, problem: string): void => {
    if (!holds) throw new MCP_FROM_ROUTES_INVALID_CONFIG(label, problem)
  }
  if (view === undefined && visibility === undefined) return undefined
  const isVisibility = visibility === undefined ||
    (Array.isArray(visibility) && visibility.length > 0 && new Set(visibility).size === visibility.length &&
      visibility.every((who) => who === 'model' || who === 'app'))
  check(isVisibility, 'visibility must be an array of "model" and "app"')
  if (view === undefined) return { visibility: visibility as Visibility }
  check(
    typeof view === 'string' && /^GET \//.test(view),
    "view must be a GET route, as it was registered: 'GET /views/products'"
  )
  const found = published.get(view as string)
  check(
    found !== undefined,
    `view is ${String(view)}, and no route of that method and path is a resource. Register it after ` +
      'mcp-from-routes, with the tag mcp-resource and config.mcp.resource'
  )
  const resource: unknown = Reflect.get(Object(found), 'resource')
  const resourceUri = isObject(resource) ? resource.uri : undefined
  check(
    typeof resourceUri === 'string' && resourceUri.startsWith(VIEW_SCHEME),
    `view is ${String(view)}, whose resource.uri must begin with ${VIEW_SCHEME}`
  )
  return { resourceUri: resourceUri as string, ...visibility !== undefined && { visibility: visibility as Visibility } }
}

/** What a tool gets that has a view, or says who calls it. */
export function viewPart (ui: ToolUi, view: string | undefined): Part {
  const { resourceUri, ...rest } = ui
  const withUi = <T extends ToolDefinition>({ _meta, ...definition }: T, own: ToolUi): T => {
    const { ui: _ui, ...others } = _meta ?? {}
    const meta = { ...others, ...Object.keys(own).length > 0 && { ui: own } }
    return { ...definition, ...Object.keys(meta).length > 0 && { _meta: meta } } as unknown as T
  }
  return {
    define: (definition) => withUi(definition, ui),
    // Who may not read the view does not learn of it.
    ...resourceUri !== undefined && view !== undefined && {
      needs: [view],
      bare: (definition: ToolDefinition) => withUi(definition, rest)
    },
    ...ui.visibility?.includes('model') === false && { hidden: 'from models' as const }
  }
}

/**
 * Checks that tools which only views call have a view that can.
 * @throws {@link MCP_FROM_ROUTES_INVALID_CONFIG}
 */
export function checkCallers (tools: readonly Tool[]): void {
  const alone = tools.find(({ part }) => !part.isForModels)
  if (alone === undefined || tools.some(({ part }) => part.needs.length > 0)) return
  throw new MCP_FROM_ROUTES_INVALID_CONFIG(alone.label, 'visibility leaves the tool to views, and no tool has a view')
}
