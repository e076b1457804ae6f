import { maxHeaderSize } from 'node:http'
import Fastify from 'fastify'
import { credentialFromHeaders } from '../credentials.ts'
import type { JwtSettings } from '../options.ts'
import { registerJwt } from '../tokens/jwt.ts'
import { claimAt, isRecord, TENANT, type Claims, type ClaimPath } from '../tokens/providers.ts'
import type { MachineIdentity, UserIdentity } from '../types.ts'
import { messageOf, printable, type Finding } from './finding.ts'
import { hintFor } from './hints.ts'

/** No token can have it in front: every token is checked as one. */
const NO_MARKER = ' '

/** Claims that tell what kind of token it is, at one provider or another. */
const KINDS = [
  'typ',
  'token_use',
  'ver',
  'idtyp',
  'gty',
  'tid',
  'oid',
  'uid',
  'client_id',
  'clientId',
  'azp',
  'cid',
  'nonce',
  'at_hash'
]

/** Who holds the token; or why it is rejected, what may mend that, and what it has of all that decides about it. */
export async function examineToken (issuers: readonly JwtSettings[], token: string): Promise<readonly Finding[]> {
  const authorization = `Bearer ${token}`
  const credential = credentialFromHeaders({ authorization }, 'x-api-key', NO_MARKER)
  if (credential.kind === 'malformed') return rejected(issuers, '', credential.reason)
  if (authorization.length > maxHeaderSize) {
    return rejected(
      issuers,
      '',
      `all headers of a request may have ${maxHeaderSize} bytes, node --max-http-header-size, and this token ` +
        `alone has ${token.length}`
    )
  }
  const isOpaque = credential.kind === 'opaque'
  const verdict = await verdictOf(issuers, authorization, isOpaque, token)
  if (!(verdict instanceof Error)) {
    return [{
      level: 'ok',
      what: 'token',
      found: `accepted as ${inWords(verdict)}${issuers.length > 1 ? printable(`; issuer: ${verdict.issuer}`) : ''}`
    }]
  }
  return [...rejected(issuers, token, messageOf(verdict.cause ?? verdict)), ...isOpaque ? [] : notesOf(token, issuers)]
}

function rejected (issuers: readonly JwtSettings[], token: string, reason: string): readonly Finding[] {
  const hint = hintFor(reason, { ...partsOf(token), issuers, settings: settingsFor(token, issuers) })
  return [
    { level: 'fail', what: 'token', found: `rejected: ${reason}` },
    ...hint === undefined ? [] : [{ level: 'hint', what: 'token', found: printable(hint) } as const]
  ]
}

function partsOf (token: string): { readonly header: Claims, readonly payload: Claims } {
  const [header = {}, payload = {}] = token.split('.', 2).map(claimsFrom)
  return { header, payload }
}

/** Of the issuer that the token names, or the first. */
function settingsFor (token: string, issuers: readonly JwtSettings[]): JwtSettings {
  const { iss } = partsOf(token).payload
  return issuers.find(({ issuer, tenants = [] }) =>
    [issuer, ...tenants.map((tenant) => issuer.replace(TENANT, tenant))].includes(String(iss))
  ) ?? issuers[0]!
}

/** What the plugin makes of the token. */
async function verdictOf (
  issuers: readonly JwtSettings[],
  authorization: string,
  isOpaque: boolean,
  token: string
): Promise<MachineIdentity | UserIdentity | Error> {
  const app = Fastify()
  try {
    const tokens = await registerJwt(app, issuers)
    let verdict: MachineIdentity | UserIdentity | Error = new Error('not checked')
    app.get('/', async (request) => {
      verdict = await (isOpaque ? tokens.identityFromOpaque(token) : tokens.identityFromToken(request, token)).catch((
        error: Error
      ) => error)
    })
    await app.inject({ url: '/', headers: { authorization } })
    return verdict
  } finally {
    await app.close()
  }
}

function inWords (identity: MachineIdentity | UserIdentity): string {
  const scopes = identity.scopes.join(' ') || 'none'
  if (identity.kind === 'machine') return printable(`a machine: client ${identity.clientId}; scopes: ${scopes}`)
  const { subject, username, groups } = identity
  return printable(
    `a person: subject ${subject}${username === null ? '' : `, ${username}`}; groups: ` +
      `${groups.join(', ') || 'none'}; scopes: ${scopes}`
  )
}

/** Unverified: for the person who fixes the configuration. */
function notesOf (token: string, issuers: readonly JwtSettings[]): readonly Finding[] {
  const { header, payload } = partsOf(token)
  const settings = settingsFor(token, issuers)
  const { audience, algorithms, claims, userClients, machineClients, shape } = settings
  const paths = [...new Map(Object.values(claims).flat().map((path) => [path.join('.'), path])).values()]
  const expectedClients = userClients === undefined ? undefined : [...userClients, ...machineClients ?? []]
  const clientNames = claims.client.map((path) => path.join('.'))
  const required = ['iss', 'sub', 'exp', 'iat', ...shape.needsAudience ? ['aud'] : [], ...clientNames.slice(0, 1)]
  const names: ReadonlyArray<readonly [name: string, path: ClaimPath]> = [
    ...[...required, 'aud', ...KINDS].map((name) => [name, [name]] as const),
    ...paths.map((path) => [path.join('.'), path] as const)
  ]
  const expected = (name: string): readonly string[] | undefined => {
    if (name === 'iss') return issuers.map(({ issuer }) => issuer)
    if (name === 'aud') return audience
    return clientNames.includes(name) ? expectedClients : undefined
  }
  return [
    note('header alg', header.alg, algorithms),
    note('header typ', header.typ),
    note('header kid', header.kid),
    ...[...new Map(names)].flatMap(([name, path]) => {
      const value = claimAt(payload, [path])
      return value === undefined && !required.includes(name)
        ? []
        : [note(name, isTime(name) ? timeFrom(value) : value, expected(name))]
    })
  ]
}

function note (what: string, value: unknown, expected?: readonly string[]): Finding {
  const shown = value === undefined ? 'missing' : JSON.stringify(value)
  return {
    level: 'note',
    what,
    found: printable(shown) + (expected === undefined ? '' : printable(`; accepted: ${expected.join(', ') || 'none'}`))
  }
}

const isTime = (name: string): boolean => name === 'exp' || name === 'iat'

/** Seconds since the epoch as ISO 8601. */
function timeFrom (value: unknown): unknown {
  const date = new Date(Number(value) * 1000)
  return typeof value === 'number' && !Number.isNaN(date.getTime()) ? date.toISOString() : value
}

function claimsFrom (segment: string): Claims {
  try {
    const value: unknown = JSON.parse(Buffer.from(segment, 'base64url').toString())
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}
