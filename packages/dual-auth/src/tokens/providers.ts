/** The claims of a token. */
export type Claims = Readonly<Record<string, unknown>>

/** The identity providers whose access tokens are known. */
export type Provider =
  | 'cognito'
  | 'rfc9068'
  | 'auth0'
  | 'entra'
  | 'keycloak'
  | 'okta'
  | 'zitadel'
  | 'authentik'
  | 'supabase'
  | 'generic'

/** In the issuer of an app that several tenants of Entra use: the place of a tenant's id. */
export const TENANT = '{tenantid}'

/** Where a claim is: the names to follow through nested objects, usually one. */
export type ClaimPath = readonly string[]

/** For each fact about a caller, where tokens have it; the first claim that is present counts. */
export type ClaimPaths = Readonly<
  Record<'client' | 'subject' | 'username' | 'groups' | 'scopes' | 'machineScopes', readonly ClaimPath[]>
>

/** How the access tokens of a provider look. */
export interface TokenShape {
  readonly claims: ClaimPaths
  /** Allowed values of the header's `typ`, in upper case; undefined: all but those that mean something else. */
  readonly types: ReadonlyArray<string | undefined> | undefined
  /** Whether tokens of machines may lack `sub`. */
  readonly machinesLackSubject?: boolean
  /** Whether the host must list the clients that people sign in with. */
  readonly needsUserClients?: boolean
  /** Whether the token must have `aud`. */
  readonly needsAudience: boolean
  /** Whether machines need a scope that ends in `/api`, unless `machineScopes` says otherwise. */
  readonly needsMachineScope: boolean
  /** Why it is no access token: an ID token tells an app who signed in, and is no permission to call anything. */
  readonly flaw: (claims: Claims) => string | undefined
  /**
   * The claims of a token in what the provider says of it when asked (RFC 7662 §2.2); undefined: its tokens are JWTs,
   * or it is not known to answer.
   */
  readonly fromAnswer?: (answer: Claims) => Claims
  /** Tokens that name no client are sessions of people. */
  readonly sessionTokens?: true
  /** A client is of people or of machines by the list that it is in: never in both. */
  readonly listsDecide?: true
  /** Who holds the token; undefined if its claims contradict each other. */
  readonly holder: (
    claims: Claims,
    client: string,
    machineClients: readonly string[] | undefined
  ) => 'machine' | 'user' | undefined
}

const ANY_TYPE = [undefined, 'JWT', 'AT+JWT', 'APPLICATION/AT+JWT']

const STANDARD: ClaimPaths = {
  client: [['client_id']],
  subject: [['sub']],
  username: [['preferred_username']],
  groups: [['groups']],
  scopes: [['scope']],
  machineScopes: [['scope']]
}

const COMMON = { types: ANY_TYPE, needsAudience: true, needsMachineScope: false } as const

/** The shape of each provider's access tokens. Each names the page that documents it. */
export const TOKEN_SHAPES: Readonly<Record<Provider, TokenShape>> = {
  /**
   * docs.aws.amazon.com/cognito: "Understanding the access token". There is an `aud` only if a resource was requested.
   */
  cognito: {
    ...COMMON,
    claims: { ...STANDARD, username: [['username']], groups: [['cognito:groups']] },
    needsAudience: false,
    needsMachineScope: true,
    needsUserClients: true,
    flaw: ({ token_use: use }) => use === 'access' ? undefined : 'token_use is not access',
    // Both conditions: a person's token with a machine's scope must not become a machine.
    holder: (claims, client) =>
      claims.username === undefined && claims['cognito:username'] === undefined && claims.sub === client
        ? 'machine'
        : 'user'
  },
  /** RFC 9068 §2.1 (type), §2.2 (claims), §5 (a client's id as the subject). */
  rfc9068: {
    ...COMMON,
    claims: STANDARD,
    types: ['AT+JWT', 'APPLICATION/AT+JWT'],
    flaw: () => undefined,
    holder: ({ sub }, client) => sub === client ? 'machine' : 'user'
  },
  /**
   * auth0.com/docs: "Access Token Profiles". Its own profile has azp, the one of RFC 9068 client_id. An ID token has
   * neither.
   */
  auth0: {
    ...COMMON,
    claims: { ...STANDARD, client: [['azp'], ['client_id']], groups: [] },
    flaw: flawOfIdToken,
    holder ({ sub, gty }, client) {
      const isMachine = sub === `${client}@clients`
      if (gty === 'client-credentials' && !isMachine) return undefined
      return isMachine ? 'machine' : 'user'
    }
  },
  /**
   * learn.microsoft.com/entra: "Access token claims reference", versions 2.0 and 1.0, which has other names for the
   * client and the person. Only `oid` is the same for all apps.
   */
  entra: {
    ...COMMON,
    claims: {
      ...STANDARD,
      client: [['azp'], ['appid']],
      subject: [['oid']],
      username: [['preferred_username'], ['upn'], ['unique_name']],
      groups: [['roles']],
      scopes: [['scp']],
      machineScopes: [['roles']]
    },
    flaw: ({ ver }) => ver === '2.0' || ver === '1.0' ? undefined : 'ver is not 2.0 or 1.0',
    holder ({ scp, idtyp, sub, oid }) {
      if (scp !== undefined) return idtyp === undefined || idtyp === 'user' ? 'user' : undefined
      // `idtyp` is optional; without it, a token of an app has itself as both ids.
      return idtyp === 'app' || (idtyp === undefined && sub === oid) ? 'machine' : undefined
    }
  },
  /** keycloak.org: "Server Administration Guide", service accounts; the claim `typ` is Bearer, ID or Refresh. */
  keycloak: {
    ...COMMON,
    claims: { ...STANDARD, client: [['azp']], groups: [['realm_access', 'roles']] },
    flaw: ({ typ }) => typ === 'Bearer' ? undefined : 'the claim typ is not Bearer',
    // Of every token it says a client_id, which in a JWT marks a machine.
    fromAnswer: ({ client_id: _client, ...claims }) => claims,
    holder (
      {
        client_id: id,
        clientId: mark = id,
        preferred_username: name,
        sid,
        session_state: session = sid,
        auth_time: signIn = session
      },
      client,
      machineClients = []
    ) {
      const isNamedSo = String(name).toLowerCase() === `service-account-${client.toLowerCase()}`
      const isMarked = mark === client
      if (isMarked === isNamedSo) return isMarked ? 'machine' : 'user'
      // A realm may leave out the scope `service_account` or `profile`. Nobody signed in, and the host lists the
      // client: a person may choose the name of a service account that does not exist.
      const isIncomplete = (isMarked ? name : mark) === undefined && signIn === undefined
      return isIncomplete && machineClients.includes(client) ? 'machine' : undefined
    }
  },
  /** developer.okta.com: "Access token", of a custom authorization server. */
  okta: {
    ...COMMON,
    claims: {
      ...STANDARD,
      client: [['cid']],
      subject: [['uid']],
      username: [['sub']],
      scopes: [['scp']],
      machineScopes: [['scp']]
    },
    flaw: flawOfIdToken,
    holder ({ sub, uid }, client) {
      if (uid === undefined) return sub === client ? 'machine' : undefined
      return 'user'
    }
  },
  /**
   * zitadel.com/docs: "Claims". Only access tokens have `jti`. Service users look like people, so their clients are
   * listed.
   */
  zitadel: {
    ...COMMON,
    claims: { ...STANDARD, client: [['azp'], ['client_id']], groups: [['urn:zitadel:iam:org:project:roles']] },
    flaw: (claims) => claims.jti === undefined ? 'jti is missing: it is an ID token' : flawOfIdToken(claims),
    fromAnswer: (answer) => answer,
    listsDecide: true,
    holder: listedHolder
  },
  /**
   * docs.goauthentik.io: "OAuth 2.0 provider". Only access tokens have `uid`. Service accounts look like people, so
   * their clients are listed.
   */
  authentik: {
    ...COMMON,
    claims: { ...STANDARD, client: [['azp']] },
    flaw: ({ uid }) => uid === undefined ? 'uid is missing: it is an ID token' : undefined,
    listsDecide: true,
    holder: listedHolder
  },
  /**
   * supabase.com/docs: "JWT Claims Reference", "Token Security and Row Level Security". The tokens of OAuth apps, which
   * anybody may register, differ from sessions by `client_id` alone: their `aud` is the same. Only access tokens have
   * `session_id`. There are no machines.
   */
  supabase: {
    ...COMMON,
    claims: { ...STANDARD, username: [['email']], groups: [['role']] },
    sessionTokens: true,
    flaw: (claims) =>
      claims.session_id === undefined ? 'session_id is missing: it is an ID token' : flawOfIdToken(claims),
    holder: () => 'user'
  },
  /**
   * For providers without a preset: what most of them have in common, and no more trust than that allows. People are
   * those with a token of a listed client. Who is none of them is a machine only if its subject is its client, or it is
   * listed.
   */
  generic: {
    ...COMMON,
    claims: {
      ...STANDARD,
      client: [['client_id'], ['azp']],
      username: [['preferred_username'], ['username']],
      groups: [['groups'], ['roles']],
      scopes: [['scope'], ['scp']],
      machineScopes: [['scope'], ['scp']]
    },
    types: undefined,
    machinesLackSubject: true,
    needsUserClients: true,
    flaw (claims) {
      if (!/^access(?:_token)?$/.test(String(claims.token_use ?? 'access'))) return 'token_use is not access'
      const kind = KIND_CLAIMS.find((name) => namesOtherKind(claims[name]))
      return kind === undefined ? flawOfIdToken(claims) : `the claim ${kind} is not that of an access token`
    },
    fromAnswer: (answer) => answer,
    listsDecide: true,
    holder ({ sub }, client, machineClients = []) {
      if (machineClients.includes(client) || sub === client || sub === `${client}@clients`) return 'machine'
      // Whoever has no subject must not pass for a person.
      return sub === undefined ? undefined : 'user'
    }
  }
}

/** Claims that name a client, at one provider or another. */
export const CLIENT_CLAIMS = ['client_id', 'azp', 'cid', 'appid', 'clientId'] as const

/** Claims that say which kind of token it is. */
const KIND_CLAIMS = ['typ', 'type', 'token_type', 'tokenType', 'TokenType', 'tok_type', 'drn']
/** Other kinds than access tokens, where providers write them without `+jwt`; `DSR` is Descope's. */
const OTHER_KIND = /^(?:(?:ID|REFRESH|LOGOUT|KB)(?:[-_ ]?TOKEN)?|IT|RT|DSR)$/

/** Whether a type, or one of several, names another kind of token than access tokens (RFC 8725 §3.11). */
export function namesOtherKind (type: unknown): boolean {
  return [type].flat().some((one) => {
    const kind = String(one).trim().toUpperCase().replace(/^APPLICATION\//, '')
    return kind.endsWith('+JWT') ? kind !== 'AT+JWT' : OTHER_KIND.test(kind)
  })
}

/**
 * Whether the claims have a mark of a machine. What providers say of one: its client as the subject, the grant, or the
 * kind of holder: Casdoor in `type`, or by the application's name as the subject; Entra in `idtyp`; Oracle in
 * `sub_type`; Keycloak and authentik by a name.
 */
export function isMarkedAsMachine (claims: Claims): boolean {
  const { sub, gty, grant_type: grant, type, idtyp, sub_type: kind, owner, name, preferred_username: username } = claims
  const isClient = CLIENT_CLAIMS.some((client) => sub === claims[client] || sub === `${String(claims[client])}@clients`)
  const grants = [gty, grant].flat()
  return isClient || grants.some((value) => /^client[-_]credentials$/.test(String(value))) ||
    type === 'application' || idtyp === 'app' || kind === 'client' || sub === `${String(owner)}/${String(name)}` ||
    /^service-account-|^ak-.*-client_credentials$/.test(String(username))
}

/** Why a token of any provider is no access token that whoever sends it may use. */
export function flawOfAny ({ cnf, events }: Claims): string | undefined {
  // RFC 7800 §3: DPoP (RFC 9449 §6) and mutual TLS (RFC 8705 §3). Without the proof, a stolen token would work.
  if (cnf !== undefined && cnf !== null) return 'cnf is present: the token is bound to a key'
  // RFC 8417 §2.2, and OpenID Connect Back-Channel Logout §2.4: required there, and nowhere else.
  return events === undefined ? undefined : 'events is present: it is a logout token or another security event'
}

/** OpenID Connect Core §2, §3.1.3.6 and §3.3.2.11: claims of ID tokens only. */
function flawOfIdToken ({ nonce, at_hash: hash, c_hash: codeHash }: Claims): string | undefined {
  const isAccessToken = [nonce, hash, codeHash].every((value) => value === undefined)
  return isAccessToken ? undefined : 'nonce, at_hash or c_hash is present: it is an ID token'
}

function listedHolder (_claims: Claims, client: string, machineClients: readonly string[] = []): 'machine' | 'user' {
  return machineClients.includes(client) ? 'machine' : 'user'
}

/** The names of the providers. */
export const PROVIDERS = Object.keys(TOKEN_SHAPES) as readonly Provider[]

/** The value of the first claim that is present. */
export function claimAt (claims: Claims, paths: readonly ClaimPath[]): unknown {
  for (const path of paths) {
    const value = path.reduce<unknown>(
      (at, name) => isRecord(at) && Object.hasOwn(at, name) ? at[name] : undefined,
      claims
    )
    if (value !== undefined && value !== null) return value
  }
  return undefined
}

export function isRecord (value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
