import { callbackFrom, type Credentials } from 'identity-provider'
import { createHash, randomBytes } from 'node:crypto'
import type { PlayedClient } from './clients.ts'

/** A client that has signed in. */
export interface SignedIn {
  readonly client: PlayedClient
  readonly id: string
  readonly server: Metadata
  readonly resource: string
  readonly tokens: Tokens
}

type Metadata =
  & Readonly<
    Record<
      'authorization_endpoint' | 'token_endpoint' | 'registration_endpoint' | 'revocation_endpoint' | 'issuer',
      string
    >
  >
  & { readonly client_id_metadata_document_supported?: boolean }
interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
}

/**
 * Takes the steps of MCP's authorization with nothing but the URL, up to a call that works.
 *
 * @throws an Error that says which step failed
 */
export async function signIn (client: PlayedClient, mcpUrl: string, person: Credentials): Promise<SignedIn> {
  const refused = await call(mcpUrl)
  const [, documented = ''] = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? []
  const protectedResource = await json(await fetch(documented), 200)
  const authorizationServer = new URL(protectedResource.authorization_servers[0])
  const server = await json(
    await fetch(
      `${authorizationServer.origin}/.well-known/oauth-authorization-server${
        authorizationServer.pathname.replace(/\/$/, '')
      }`
    ),
    200
  )
  equal('the issuer', server.issuer, protectedResource.authorization_servers[0])

  const id = 'document' in client.by
    ? documentId(client.by.document, server)
    : (await json(
      await post(server.registration_endpoint, JSON.stringify(client.by.registration), 'application/json'),
      201
    )).client_id
  const verifier = randomBytes(32).toString('base64url')
  const state = randomBytes(8).toString('base64url')
  const url = new URL(server.authorization_endpoint)
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: id,
    redirect_uri: client.callback,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    scope: protectedResource.scopes_supported.join(' '),
    state,
    resource: protectedResource.resource
  }).toString()
  const { searchParams } = await callbackFrom(url, person)
  equal('state', searchParams.get('state'), state)
  equal('iss', searchParams.get('iss'), server.issuer)
  const tokens = await json(
    await post(
      server.token_endpoint,
      form({
        grant_type: 'authorization_code',
        code: searchParams.get('code') ?? '',
        code_verifier: verifier,
        client_id: id,
        redirect_uri: client.callback,
        resource: protectedResource.resource
      })
    ),
    200
  )
  await works(mcpUrl, tokens)
  return { client, id, server, resource: protectedResource.resource, tokens }
}

/** @throws an Error unless a refresh brings a token that works */
export async function refresh ({ id, server, resource, tokens, ...rest }: SignedIn): Promise<SignedIn> {
  const refreshed = await json(
    await post(
      server.token_endpoint,
      form({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token, client_id: id, resource })
    ),
    200
  )
  await works(resource, refreshed)
  return { ...rest, id, server, resource, tokens: refreshed }
}

/** @throws an Error unless the sign-in is over afterwards */
export async function revoke (signedIn: SignedIn): Promise<void> {
  const { id, server, tokens } = signedIn
  const { status } = await post(server.revocation_endpoint, form({ token: tokens.refresh_token, client_id: id }))
  equal('the status of the revocation', status, 200)
  const { error } = await json(
    await post(
      server.token_endpoint,
      form({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token, client_id: id })
    ),
    400
  )
  equal('a refresh after it', error, 'invalid_grant')
}

function documentId (url: string, { client_id_metadata_document_supported: isRead }: Metadata): string {
  equal('client_id_metadata_document_supported', isRead, true)
  return url
}

async function works (mcpUrl: string, { access_token: token }: Tokens): Promise<void> {
  const response = await call(mcpUrl, { authorization: `Bearer ${token}` })
  equal('the status of a call with the token', response.status, 200)
  await response.body?.cancel()
}

async function call (mcpUrl: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return await fetch(mcpUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'lab', version: '1' } }
    })
  })
}

const form = (parameters: Readonly<Record<string, string>>): string => new URLSearchParams(parameters).toString()

async function post (url: string, body: string, type = 'application/x-www-form-urlencoded'): Promise<Response> {
  return await fetch(url, { method: 'POST', headers: { 'content-type': type }, body })
}

async function json (response: Response, status: number): Promise<any> {
  const text = await response.text()
  if (response.status !== status) throw new Error(`${response.url} returns ${response.status}: ${text}`)
  return JSON.parse(text)
}

function equal (what: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) {
    throw new Error(`${what} is ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`)
  }
}
