import type { FastifyContextConfig, FastifyReply, RouteOptions } from 'fastify'
import { createHash } from 'node:crypto'
import { isObject } from '../../schema/json-schema.ts'

/**
 * A server card: what clients and catalogs may know of the server before they connect. The rest of it is `serverInfo`.
 */
export interface ServerCardOptions {
  /**
   * The server's unique name: a domain of yours, reversed, and `serverInfo.name`, as in `com.example/shop`. Required.
   */
  readonly name: string
  /** What the server is for, in at most 100 characters. Required. */
  readonly description: string
  /**
   * The public URL of the endpoint, with its path. Never taken from a request. Default is none: the card then does not
   * say where to connect.
   */
  readonly url?: string
  /**
   * The headers that the endpoint needs, such as `{ name: 'Authorization', isRequired: true, isSecret: true }`. Default
   * is none.
   */
  readonly headers?: readonly CardHeader[]
  /** The page about the server. Default is none. */
  readonly websiteUrl?: string
  /** Where the source is. Default is none. */
  readonly repository?: {
    readonly source: string,
    readonly url: string,
    readonly id?: string,
    readonly subfolder?: string
  }
  /** Pictures of the server. Default is none. */
  readonly icons?: ReadonlyArray<
    {
      readonly src: string,
      readonly mimeType?: string,
      readonly sizes?: readonly string[],
      readonly theme?: 'dark' | 'light'
    }
  >
  /**
   * Route `config` of the card's routes, for your authentication: the card is public. `{ auth: 'public' }` for
   * dual-auth. Default is none.
   */
  readonly config?: FastifyContextConfig
}

/** A header that the endpoint needs. It has no value: everybody can read the card. */
export interface CardHeader {
  readonly name: string
  readonly description?: string
  readonly isRequired?: boolean
  readonly isSecret?: boolean
  readonly placeholder?: string
}

/** A server card as it is sent. */
export type ServerCard = Readonly<Record<string, unknown>> & { readonly name: string }

/** What the server says of itself once a client is connected. */
interface Said {
  /** Path of the endpoint. */
  readonly path: string
  readonly serverInfo: { readonly name: string, readonly version: string, readonly title?: string }
  /** The revisions of the protocol, the newest first. */
  readonly versions: readonly string[]
}

/** The shape that is written, of the draft. */
const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'
const NAME = /^[a-zA-Z0-9.-]{1,150}\/[a-zA-Z0-9._-]{1,49}$/
/** Ranges of versions, which a card must not have. */
const RANGE = /^[\^~<>=]|[*\s]|(?:^|\.)x(?:\.|$)|\|\|/i

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
const isFlag = (value: unknown): boolean => typeof value === 'boolean'
/** Without credentials, as a URL of git may have them: everybody can read the card. */
const isWeb = (value: unknown): boolean => {
  if (!isText(value) || !URL.canParse(String(value))) return false
  const { protocol, username, password } = new URL(String(value))
  return ['https:', 'http:'].includes(protocol) && `${username}${password}` === ''
}
const isIcon = (value: unknown): boolean => isWeb(value) || (isText(value) && String(value).startsWith('data:image/'))
type Rules = Readonly<Record<string, (value: unknown) => boolean>>
const HEADER: Rules = {
  name: (value) => isText(value) && /^[a-z0-9!#$%&'*+.^_`|~-]+$/i.test(String(value)),
  description: isText,
  isRequired: isFlag,
  isSecret: isFlag,
  placeholder: isText
}
const REPOSITORY: Rules = { source: isText, url: isWeb, id: isText, subfolder: isText }
const ICON: Rules = {
  src: isIcon,
  mimeType: isText,
  sizes: (value) => Array.isArray(value) && value.every(isText),
  theme: (value) => value === 'dark' || value === 'light'
}

/**
 * The card, which says the same as the server does.
 * @param check - throws for a problem of the option `card`
 */
export function cardFrom (
  options: ServerCardOptions,
  { path, serverInfo, versions }: Said,
  check: (holds: boolean, problem: string) => void
): ServerCard {
  check(isObject(options), 'must be an object with a name and a description')
  const { name, description, url, headers = [], websiteUrl, repository, icons, config, ...others } = options
  const [unknown] = Object.keys(others)
  check(unknown === undefined, `has the unknown member ${unknown}. The version and the title are those of serverInfo`)
  check(isText(name) && NAME.test(name), 'must have a name like com.example/shop')
  check(
    name === serverInfo.name || name.endsWith(`/${serverInfo.name}`),
    `has the name ${name}, but serverInfo says ${serverInfo.name}: the part after the slash must be the same`
  )
  check(isText(description) && description.length <= 100, 'must have a description of 1 to 100 characters')
  check(
    serverInfo.version.length <= 255 && !RANGE.test(serverInfo.version),
    `needs a serverInfo.version that is no range, and not ${serverInfo.version}`
  )
  check((serverInfo.title?.length ?? 0) <= 100, 'needs a serverInfo.title of at most 100 characters')
  check(
    url === undefined || isEndpoint(url),
    'must have a url that is https, or http on this machine, without query, fragment and credentials'
  )
  check(
    url === undefined || new URL(url).pathname.replace(/\/$/, '').endsWith(path.replace(/\/$/, '')),
    `has a url that does not lead to the endpoint: its path must end with ${path}`
  )
  check(
    Array.isArray(headers) && (headers.length === 0 || url !== undefined),
    'must have headers that are an array, beside a url'
  )
  for (const header of headers) {
    check(
      isShape(header, HEADER, ['name']),
      `has headers with other members than ${Object.keys(HEADER).join(', ')}, or wrong ones. A value would be public`
    )
  }
  check(websiteUrl === undefined || isWeb(websiteUrl), 'must have a websiteUrl that is a URL without credentials')
  check(
    repository === undefined || isShape(repository, REPOSITORY, ['source', 'url']),
    'must have a repository with source and url, without credentials'
  )
  check(
    icons === undefined || (Array.isArray(icons) && icons.every((icon) => isShape(icon, ICON, ['src']))),
    'must have icons with src, mimeType, sizes or theme'
  )
  check(config === undefined || isObject(config), 'must have a config that is an object')
  return {
    $schema: SCHEMA,
    name,
    version: serverInfo.version,
    ...serverInfo.title !== undefined && { title: serverInfo.title },
    description,
    ...websiteUrl !== undefined && { websiteUrl },
    ...repository !== undefined && { repository },
    ...icons !== undefined && { icons },
    ...url !== undefined &&
      {
        remotes: [{
          type: 'streamable-http',
          url,
          supportedProtocolVersions: versions,
          ...headers.length > 0 && { headers }
        }]
      }
  }
}

function isEndpoint (url: unknown): boolean {
  if (!isWeb(url)) return false
  const { protocol, hostname, search, hash } = new URL(String(url))
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  return (protocol === 'https:' || isHere) && `${search}${hash}` === '' && !/[?#\s]/.test(String(url))
}

function isShape (value: unknown, rules: Rules, required: readonly string[]): boolean {
  return isObject(value) && required.every((name) => Object.hasOwn(value, name)) &&
    Object.entries(value).every(([name, member]) => Object.hasOwn(rules, name) && rules[name]?.(member))
}

/** The path of the card of an endpoint. */
function cardPath (path: string): string {
  return path === '/' ? '/server-card' : `${path}/server-card`
}

/**
 * The routes that serve a card beside its endpoint, to pages of any origin.
 * @see [SEP-2127](https://github.com/modelcontextprotocol/modelcontextprotocol/pull/2127), a draft
 */
export function cardRoutes (
  path: string,
  card: ServerCard,
  config: FastifyContextConfig = {}
): readonly RouteOptions[] {
  const body = Buffer.from(JSON.stringify(card))
  const tag = `"${createHash('sha256').update(body).digest('hex')}"`
  const open = (reply: FastifyReply): FastifyReply =>
    reply.header('access-control-allow-origin', '*').header('access-control-expose-headers', 'ETag')
  const common = { url: cardPath(path), schema: { hide: true }, config }
  return [{
    ...common,
    method: 'GET',
    exposeHeadRoute: true,
    handler: async ({ headers }, reply) => {
      open(reply).header('cache-control', 'public, max-age=3600').header('etag', tag)
      if (isKnown(headers['if-none-match'], tag)) return reply.code(304).send()
      return reply.type('application/mcp-server-card+json').send(body)
    }
  }, {
    ...common,
    method: 'OPTIONS',
    handler: async (_request, reply) =>
      open(reply).header('access-control-allow-methods', 'GET').header(
        'access-control-allow-headers',
        'Content-Type, If-None-Match'
      ).code(204).send()
  }]
}

/** @see [RFC 9110 §13.1.2](https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2) */
function isKnown (header: string | undefined, tag: string): boolean {
  return header !== undefined &&
    header.split(',').some((known) => known.trim() === '*' || known.trim().replace(/^W\//, '') === tag)
}
