import { OAUTH_DISCOVERY_SHIM_INVALID_OPTION } from '../../errors.ts'
import { isObject } from '../../json.ts'
import { isSafeUrl } from '../../safe-url.ts'
import { flawOfSecrets, type BrokerSecret } from '../seal.ts'

/** An identity provider whose word for its people counts. */
export interface TrustedIssuer {
  /** Exactly as in its assertions. `https`, or `http` on loopback. */
  readonly issuer: string
  /** Where its public keys are. Default: what its `/.well-known/openid-configuration` says. */
  readonly jwksUri?: string
}

/** A client that exchanges assertions, and proves with a secret that it is this client. */
export interface AssertionClient {
  /** Its `client_id` here, which its assertions name. */
  readonly id: string
  /** Its secrets, at least 32 bytes each. Any of them counts, so that it can be changed without an interruption. */
  readonly secrets: readonly string[]
}

/**
 * Enterprise-managed authorization: instead of a person who signs in here, the identity provider of an organization
 * says in a signed assertion (ID-JAG) who may use this server with which client.
 *
 * @see
 *   [MCP extension](https://github.com/modelcontextprotocol/ext-auth/blob/main/specification/draft/enterprise-managed-authorization.mdx),
 *   [draft-ietf-oauth-identity-assertion-authz-grant](https://datatracker.ietf.org/doc/draft-ietf-oauth-identity-assertion-authz-grant/)
 */
export interface AssertionOptions {
  /**
   * Whose assertions are accepted. Each can name any person, so list only those of organizations whose people may all
   * have access.
   */
  readonly issuers: readonly TrustedIssuer[]
  /**
   * Secrets that the keys of access tokens are made of (Ed25519), newest first. To rotate, put a new one in front, and
   * remove the old one after {@link AssertionOptions.tokenLifetime}. All replicas need the same.
   *
   * @see {@link brokerKeySet} for the public keys
   */
  readonly keys: readonly BrokerSecret[]
  /** Clients with a secret. Default: none; clients with a metadata document and `private_key_jwt` need no entry. */
  readonly clients?: readonly AssertionClient[]
  /** How long an access token works, in milliseconds, from a minute to an hour. Default 600000, ten minutes. */
  readonly tokenLifetime?: number
}

/** The options with every default in place, checked. */
export type AssertionSettings = Required<AssertionOptions>

/** What the options have to fit. */
interface Site {
  /** This server's own issuer. */
  readonly own: string
  /** Whether http is accepted anywhere. */
  readonly http: boolean
  /** Whether clients may have metadata documents. */
  readonly documents: boolean
  /** Ids of clients that sign people in without a secret. */
  readonly others: readonly string[]
}

/**
 * Checks the options and fills in defaults.
 *
 * @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION}
 */
export function assertionSettings (
  options: AssertionOptions,
  { own, http, documents, others }: Site
): AssertionSettings {
  must(isObject(options), ' must be an object')
  const { issuers, keys, clients = [], tokenLifetime = 600_000, ...unknown } = options
  for (const name of Object.keys(unknown)) must(false, `.${name} is not an option`)
  must(Array.isArray(issuers) && issuers.length > 0, '.issuers must list at least one issuer of assertions')
  for (const [i, trusted] of issuers.entries()) {
    must(isObject(trusted), `.issuers[${i}] must be an object`)
    const { issuer, jwksUri, ...unknown } = trusted
    for (const name of Object.keys(unknown)) must(false, `.issuers[${i}].${name} is not an option`)
    must(
      isSafeUrl(issuer, http) && !/[?#\s{}]/.test(issuer),
      `.issuers[${i}].issuer must be an https URL, or http on loopback, without query and fragment`
    )
    must(issuer !== own, `.issuers[${i}].issuer must not be this server itself`)
    must(
      jwksUri === undefined || isSafeUrl(jwksUri, http),
      `.issuers[${i}].jwksUri must be an https URL, or http on loopback`
    )
  }
  must(new Set(issuers.map(({ issuer }) => issuer)).size === issuers.length, '.issuers must be different')
  const flaw = flawOfSecrets(keys)
  must(flaw === undefined, `.keys${flaw}`)
  must(Array.isArray(clients), '.clients must be a list')
  for (const [i, client] of clients.entries()) {
    must(isObject(client), `.clients[${i}] must be an object`)
    const { id, secrets, ...unknown } = client
    for (const name of Object.keys(unknown)) must(false, `.clients[${i}].${name} is not an option`)
    must(
      typeof id === 'string' && /^[\x21-\x7e]{1,500}$/.test(id),
      `.clients[${i}].id must be 1 to 500 characters of printable ASCII`
    )
    must(
      !others.includes(id),
      `.clients[${i}].id is also in the option clients, whose clients have no secret: give it another id there`
    )
    must(
      Array.isArray(secrets) && secrets.length > 0 &&
        secrets.every((secret) => typeof secret === 'string' && Buffer.byteLength(secret) >= 32),
      `.clients[${i}].secrets must list strings of at least 32 bytes`
    )
  }
  must(new Set(clients.map(({ id }) => id)).size === clients.length, '.clients must have different ids')
  must(
    clients.length > 0 || documents,
    '.clients must list a client, as documents are off: otherwise no client could authenticate'
  )
  must(
    Number.isSafeInteger(tokenLifetime) && tokenLifetime >= 60_000 && tokenLifetime <= 3_600_000,
    '.tokenLifetime must be a whole number of milliseconds, from a minute to an hour'
  )
  return { issuers, keys, clients, tokenLifetime }
}

function must (condition: boolean, message: string): asserts condition {
  if (!condition) throw new OAUTH_DISCOVERY_SHIM_INVALID_OPTION(`assertions${message}`)
}
