import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { MCP_PATH } from '../auth.ts'
import { SHOP_SETTINGS } from '../errors.ts'
import { VERSION } from '../operations/version.ts'
import type { Settings } from '../settings/settings.ts'
import { signInRequest } from '../settings/sign-in-request.ts'
import { TENANT } from '../settings/mistakes.ts'
import { KEY_PLACE, keySetups } from './mcp-clients.ts'

/** Where the web application is. */
export const CONSOLE_PATH = '/console'

/** Where the identity provider sends people back to: the URL to register for the client of the console. */
export const CONSOLE_CALLBACK = `${CONSOLE_PATH}/signed-in`

/** In the built page, where each response has its own nonce, and each server its settings. */
const NONCE = 'NONCE_OF_RESPONSE'
const SETTINGS = '"SETTINGS_OF_SERVER"'

/** Hashed file names: a file never changes. */
const FOREVER = { maxAge: '365d', immutable: true } as const

/** Where people see a customer of the payment provider; the id follows. */
const PAY_DASHBOARD = 'https://dashboard.stripe.com/customers/'

type Needed = Pick<
  Settings,
  | 'PUBLIC_BASE_URL'
  | 'CONSOLE_IMAGE_HOSTS'
  | 'MCP_ENABLED'
  | 'PAY_API_URL'
  | 'IDP_ISSUER'
  | 'IDP_CONSOLE_CLIENT_ID'
  | 'IDP_PROVIDER'
  | 'IDP_SCOPES'
  | 'IDP_AUDIENCE'
  | 'OAUTH_BROKER'
>

/**
 * Serves the web application, as `shop-console` was built. It knows no secret: a person signs in with the browser, and
 * calls the REST API with their own token.
 *
 * @throws {@link SHOP_SETTINGS} without its client at the identity provider, and when it was not built
 */
export async function webConsole (app: FastifyInstance, { config }: { readonly config: Needed }): Promise<void> {
  if (config.IDP_CONSOLE_CLIENT_ID === '') {
    throw new SHOP_SETTINGS(
      '  IDP_CONSOLE_CLIENT_ID is required with CONSOLE_ENABLED: a public client with the callback ' +
        `${new URL(CONSOLE_CALLBACK, config.PUBLIC_BASE_URL).href}`
    )
  }
  const page = builtPage().replace(SETTINGS, () => scriptSafe(settingsOfPage(config)))
  const root = fileURLToPath(import.meta.resolve('shop-console/assets'))
  const assets = new Set(readdirSync(root))
  await app.register(fastifyStatic, { root, serve: false, preCompressed: true })

  let provider: readonly string[] | undefined
  const sendPage = async (reply: FastifyReply, openerPolicy: string): Promise<FastifyReply> => {
    // Requested again until the identity provider's metadata was read.
    provider ??= originsFrom((await app.inject('/.well-known/oauth-authorization-server')).json(), config.IDP_ISSUER)
    const nonce = randomBytes(16).toString('base64')
    return await reply.type('text/html; charset=utf-8')
      .headers({
        'content-security-policy': policy(
          nonce,
          provider ?? [new URL(config.IDP_ISSUER).origin],
          config.CONSOLE_IMAGE_HOSTS
        ),
        'cross-origin-opener-policy': openerPolicy
      })
      .send(page.replaceAll(NONCE, nonce))
  }

  // Pages and files cost little, and a page whose script is refused stays broken: they are served under load too.
  const open = { auth: 'public', pressureHandler: () => {} } as const
  const route = { config: open, schema: { hide: true } } as const
  // The people of one office may share an address.
  app.get<{ Params: { '*': string } }>(
    `${CONSOLE_PATH}/assets/*`,
    { ...route, config: { ...open, rateLimit: false } },
    async ({ params: { '*': name } }, reply) =>
      assets.has(name) ? await reply.sendFile(name, FOREVER) : reply.callNotFound()
  )
  // When a session has ended, people sign in again in a second window, which has to know the first.
  app.get(CONSOLE_CALLBACK, route, async (_request, reply) => await sendPage(reply, 'unsafe-none'))
  app.get(CONSOLE_PATH, route, async (_request, reply) => await sendPage(reply, 'same-origin-allow-popups'))
  app.get(`${CONSOLE_PATH}/*`, route, async (_request, reply) => await sendPage(reply, 'same-origin-allow-popups'))
}

function builtPage (): string {
  try {
    return readFileSync(new URL(import.meta.resolve('shop-console/index.html')), 'utf8')
  } catch {
    throw new SHOP_SETTINGS('  CONSOLE_ENABLED needs the built console: run npm run build')
  }
}

/** What the application has to know before it can call the server. */
function settingsOfPage (config: Needed): object {
  const {
    PUBLIC_BASE_URL: baseUrl,
    PAY_API_URL: standIn,
    MCP_ENABLED: hasTools,
    OAUTH_BROKER: knowsApps,
    IDP_ISSUER: issuer,
    IDP_CONSOLE_CLIENT_ID: clientId
  } = config
  const { scopes, parameters, takesResource } = signInRequest(config)
  const { origin } = new URL(baseUrl)
  const mcpUrl = origin + MCP_PATH
  return {
    origin,
    version: VERSION,
    // Whoever is of several tenants chooses one on the page of all of them.
    sign_in: {
      issuer: issuer.replace(TENANT, 'organizations'),
      client_id: clientId,
      scope: scopes.join(' '),
      callback: origin + CONSOLE_CALLBACK,
      parameters: { ...parameters, ...(takesResource && { resource: origin }) }
    },
    connected_apps: knowsApps,
    ...(standIn === undefined && { pay_dashboard: PAY_DASHBOARD }),
    ...(hasTools && { mcp: { url: mcpUrl, key_place: KEY_PLACE, setups: keySetups(mcpUrl) } })
  }
}

/** JSON that does not end the element that it is in. */
function scriptSafe (value: object): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}

/**
 * Origins that the page calls at the identity provider.
 *
 * @param metadata - of the identity provider (RFC 8414), or an error
 * @returns undefined for an error
 */
function originsFrom (metadata: Record<string, unknown>, issuer: string): readonly string[] | undefined {
  const endpoints = ['token_endpoint', 'revocation_endpoint', 'jwks_uri'].flatMap((name) => metadata[name] ?? []).map(
    String
  )
  return metadata['token_endpoint'] === undefined
    ? undefined
    : [...new Set([issuer, ...endpoints].filter((url) => URL.canParse(url)).map((url) => new URL(url).origin))]
}

/**
 * Scripts and styles run with the nonce only, and scripts that those load; nothing writes HTML from strings. Pictures
 * of products come from this server and over https: from these hosts, if there are any.
 */
function policy (nonce: string, provider: readonly string[], hosts: readonly string[]): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'`,
    `style-src 'nonce-${nonce}'`,
    `img-src 'self' ${hosts.length === 0 ? 'https:' : hosts.map((host) => `https://${host}`).join(' ')}`,
    `connect-src 'self' ${provider.join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types default'
  ].join(';')
}
