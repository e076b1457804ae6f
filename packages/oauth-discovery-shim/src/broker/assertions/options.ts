import { ARRAY, filledArrayOf, milliseconds, type Table } from '#shared/option-table'
import { CLIENT_ID, must, settingsBy } from '../../option-checks.ts'
import { mustBeSafe } from '../../options.ts'
import { isSafeUrl } from '../../safe-url.ts'
import { checkSecrets, isLong, SECRETS, type BrokerSecret } from '../seal.ts'

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

const TABLE: Table<AssertionSettings> = {
  issuers: { ...filledArrayOf(() => true, 'issuers of assertions'), required: true },
  keys: { ...SECRETS, required: true },
  clients: { ...ARRAY, secret: true, default: [] },
  tokenLifetime: { ...milliseconds(60_000, 3_600_000), default: 600_000 }
}

const ISSUER: Table<TrustedIssuer> = {
  issuer: {
    holds: (issuer) => isSafeUrl(issuer, true) && !/[?#\s{}]/.test(issuer),
    rule: 'must be an https URL without query, fragment and white space',
    required: true
  },
  jwksUri: { holds: (uri) => isSafeUrl(uri, true), rule: 'must be an https URL' }
}

const CLIENT: Table<AssertionClient> = {
  id: { ...CLIENT_ID, required: true },
  secrets: { ...filledArrayOf(isLong, 'strings of at least 32 bytes'), secret: true, required: true }
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
  const settings = settingsBy(TABLE, options, 'assertions')
  const { issuers, keys, clients } = settings
  for (const [i, trusted] of issuers.entries()) {
    const name = `assertions.issuers[${i}]`
    const { issuer, jwksUri = issuer } = settingsBy(ISSUER, trusted, name)
    mustBeSafe(`${name}.issuer`, issuer, http)
    mustBeSafe(`${name}.jwksUri`, jwksUri, http)
    must(issuer !== own, `${name}.issuer must not be this server itself`)
  }
  must(new Set(issuers.map(({ issuer }) => issuer)).size === issuers.length, 'assertions.issuers must be different')
  checkSecrets(keys, 'assertions.keys')
  for (const [i, client] of clients.entries()) {
    const { id } = settingsBy(CLIENT, client, `assertions.clients[${i}]`)
    must(
      !others.includes(id),
      `assertions.clients[${i}].id is also in the option clients, whose clients have no secret: give it another id ` +
        'there'
    )
  }
  must(new Set(clients.map(({ id }) => id)).size === clients.length, 'assertions.clients must have different ids')
  must(
    clients.length > 0 || documents,
    'assertions.clients must list a client, as documents are off: otherwise no client could authenticate'
  )
  return settings
}
