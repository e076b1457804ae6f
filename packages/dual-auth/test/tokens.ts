import type { JwtOptions, Provider } from '../src/index.ts'
import { NOW, type Issuer } from './issuer.ts'

export const AUDIENCE = 'https://shop.test/mcp'
export const TENANT_ID = '6f2c1d1e-0d7a-4c55-8a43-3a1f6f0b1c02'
export const OTHER_TENANT_ID = '0e4b9a77-52b1-4f0e-9d3c-9f3f2a7c8d11'
const PERSON = 'b6a7c1d2-4e0f-4a53-9a3d-2f1e0c9b8a71'

export type TokenClaims = Readonly<Record<string, unknown>>

/** What a provider issues, as it documents it: claims without iss, iat and exp. */
export interface Samples {
  readonly jwt: (issuer: Issuer) => JwtOptions
  readonly header: TokenClaims
  readonly user: TokenClaims
  readonly machine: TokenClaims
  readonly idToken: TokenClaims
  /** The claim that names the client. */
  readonly client: string
  /** Who they are, but for `issuer`; null: the provider has no machines. */
  readonly identities: { readonly user: object, readonly machine: object | null }
}

const standard = (provider: Provider, more: Partial<JwtOptions> = {}) => (issuer: Issuer): JwtOptions => ({
  provider,
  issuer: issuer.url,
  audience: [AUDIENCE],
  userClients: ['web-app'],
  machineClients: ['robot'],
  ...more
})
const user = { kind: 'user', subject: PERSON, username: null, groups: [], scopes: ['openid', 'write'] }
const machine = { kind: 'machine', clientId: 'robot', scopes: ['write'] }

export const SAMPLES: Readonly<Record<Provider, Samples>> = {
  cognito: {
    jwt: standard('cognito', { machineScopes: ['shop/api'] }),
    header: {},
    user: {
      sub: PERSON,
      client_id: 'web-app',
      token_use: 'access',
      scope: 'openid write',
      username: 'ada',
      'cognito:groups': ['staff'],
      version: 2,
      jti: 'j1',
      auth_time: NOW
    },
    machine: {
      sub: 'robot',
      client_id: 'robot',
      token_use: 'access',
      scope: 'shop/api',
      version: 2,
      jti: 'j1',
      auth_time: NOW
    },
    idToken: { sub: PERSON, aud: 'web-app', token_use: 'id', 'cognito:username': 'ada', at_hash: 'h', auth_time: NOW },
    client: 'client_id',
    identities: { user: { ...user, username: 'ada', groups: ['staff'] }, machine: { ...machine, scopes: ['shop/api'] } }
  },
  rfc9068: {
    jwt: standard('rfc9068'),
    header: { typ: 'at+jwt' },
    user: { sub: PERSON, client_id: 'web-app', aud: AUDIENCE, scope: 'openid write', jti: 'j1', groups: ['staff'] },
    machine: { sub: 'robot', client_id: 'robot', aud: AUDIENCE, scope: 'write', jti: 'j1' },
    idToken: { sub: PERSON, aud: [AUDIENCE, 'web-app'], azp: 'web-app', client_id: 'web-app', nonce: 'n' },
    client: 'client_id',
    identities: { user: { ...user, groups: ['staff'] }, machine }
  },
  auth0: {
    jwt: standard('auth0', { claims: { groups: 'https://shop.test/roles' } }),
    header: { typ: 'JWT' },
    user: {
      sub: `auth0|${PERSON}`,
      aud: [AUDIENCE, 'https://owner.eu.auth0.com/userinfo'],
      azp: 'web-app',
      scope: 'openid write',
      'https://shop.test/roles': ['staff']
    },
    machine: { sub: 'robot@clients', aud: AUDIENCE, azp: 'robot', scope: 'write', gty: 'client-credentials' },
    idToken: { sub: `auth0|${PERSON}`, aud: 'web-app', nonce: 'n', nickname: 'ada', sid: 's' },
    client: 'azp',
    identities: { user: { ...user, subject: `auth0|${PERSON}`, groups: ['staff'] }, machine }
  },
  entra: {
    jwt: (issuer) => ({
      ...standard('entra')(issuer),
      issuer: `${issuer.url}/{tenantid}/v2.0`,
      tenants: [TENANT_ID],
      jwksUri: `${issuer.url}/jwks`
    }),
    header: { typ: 'JWT' },
    user: {
      aud: AUDIENCE,
      azp: 'web-app',
      azpacr: '0',
      oid: PERSON,
      sub: 'pairwise',
      tid: TENANT_ID,
      ver: '2.0',
      scp: 'openid write',
      roles: ['staff'],
      preferred_username: 'ada@shop.test',
      name: 'Ada',
      uti: 'u'
    },
    machine: {
      aud: AUDIENCE,
      azp: 'robot',
      azpacr: '1',
      oid: 'principal',
      sub: 'principal',
      tid: TENANT_ID,
      ver: '2.0',
      roles: ['write'],
      uti: 'u'
    },
    idToken: {
      aud: AUDIENCE,
      oid: PERSON,
      sub: 'pairwise',
      tid: TENANT_ID,
      ver: '2.0',
      preferred_username: 'ada@shop.test',
      nonce: 'n'
    },
    client: 'azp',
    identities: { user: { ...user, username: 'ada@shop.test', groups: ['staff'] }, machine }
  },
  keycloak: {
    jwt: standard('keycloak'),
    header: { typ: 'JWT' },
    user: {
      sub: PERSON,
      aud: [AUDIENCE, 'account'],
      typ: 'Bearer',
      azp: 'web-app',
      sid: 's',
      acr: '1',
      scope: 'openid write',
      preferred_username: 'ada',
      realm_access: { roles: ['staff'] },
      resource_access: { account: { roles: ['view-profile'] } }
    },
    machine: {
      sub: 'b1e2',
      aud: AUDIENCE,
      typ: 'Bearer',
      azp: 'robot',
      client_id: 'robot',
      clientHost: '10.0.0.7',
      scope: 'write',
      preferred_username: 'service-account-robot',
      realm_access: { roles: [] }
    },
    idToken: {
      sub: PERSON,
      aud: [AUDIENCE, 'web-app'],
      typ: 'ID',
      azp: 'web-app',
      sid: 's',
      at_hash: 'h',
      preferred_username: 'ada'
    },
    client: 'azp',
    identities: { user: { ...user, username: 'ada', groups: ['staff'] }, machine }
  },
  okta: {
    jwt: standard('okta'),
    header: {},
    user: {
      ver: 1,
      jti: 'AT.1',
      aud: AUDIENCE,
      cid: 'web-app',
      uid: PERSON,
      scp: ['openid', 'write'],
      auth_time: NOW,
      sub: 'ada@shop.test',
      groups: ['staff']
    },
    machine: { ver: 1, jti: 'AT.2', aud: AUDIENCE, cid: 'robot', scp: ['write'], sub: 'robot' },
    idToken: {
      ver: 1,
      jti: 'ID.1',
      aud: 'web-app',
      sub: PERSON,
      idp: 'i',
      amr: ['pwd'],
      at_hash: 'h',
      preferred_username: 'ada@shop.test'
    },
    client: 'cid',
    identities: { user: { ...user, username: 'ada@shop.test', groups: ['staff'] }, machine }
  },
  zitadel: {
    jwt: standard('zitadel'),
    header: {},
    user: {
      sub: PERSON,
      aud: ['web-app', AUDIENCE],
      azp: 'web-app',
      jti: 'j1',
      nbf: NOW - 10,
      scope: 'openid write',
      'urn:zitadel:iam:org:project:roles': { staff: { 1: 'shop.test' } }
    },
    machine: { sub: '2345', aud: [AUDIENCE], azp: 'robot', jti: 'j2', nbf: NOW - 10, scope: 'write' },
    idToken: {
      sub: PERSON,
      aud: ['web-app', AUDIENCE],
      azp: 'web-app',
      client_id: 'web-app',
      at_hash: 'h',
      amr: ['pwd'],
      sid: 's'
    },
    client: 'azp',
    identities: { user: { ...user, groups: ['staff'] }, machine }
  },
  authentik: {
    jwt: standard('authentik'),
    header: { typ: 'JWT' },
    user: {
      sub: PERSON,
      aud: AUDIENCE,
      acr: 'goauthentik.io/providers/oauth2/default',
      azp: 'web-app',
      uid: 'x1',
      scope: 'openid write',
      preferred_username: 'ada',
      groups: ['staff'],
      nonce: 'n'
    },
    machine: {
      sub: 'a3f1',
      aud: AUDIENCE,
      azp: 'robot',
      uid: 'x2',
      scope: 'write',
      preferred_username: 'ak-robot-client_credentials'
    },
    idToken: {
      sub: PERSON,
      aud: AUDIENCE,
      acr: 'goauthentik.io/providers/oauth2/default',
      preferred_username: 'ada',
      nonce: 'n',
      at_hash: 'h'
    },
    client: 'azp',
    identities: { user: { ...user, username: 'ada', groups: ['staff'] }, machine }
  },
  supabase: {
    jwt: standard('supabase'),
    header: { typ: 'JWT' },
    user: {
      sub: PERSON,
      client_id: 'web-app',
      aud: AUDIENCE,
      role: 'staff',
      aal: 'aal1',
      session_id: 's',
      email: 'ada@shop.test',
      is_anonymous: false,
      scope: 'openid write'
    },
    machine: { sub: 'robot', client_id: 'robot', aud: AUDIENCE, session_id: 's' },
    idToken: { sub: PERSON, aud: 'web-app', email: 'ada@shop.test', auth_time: NOW },
    client: 'client_id',
    identities: { user: { ...user, username: 'ada@shop.test', groups: ['staff'] }, machine: null }
  },
  generic: {
    jwt: standard('generic'),
    header: { typ: 'JWT' },
    user: {
      sub: PERSON,
      client_id: 'web-app',
      aud: [AUDIENCE],
      scp: ['openid', 'write'],
      preferred_username: 'ada',
      roles: 'staff'
    },
    machine: { sub: 'robot', client_id: 'robot', aud: [AUDIENCE], scope: 'write' },
    idToken: { sub: PERSON, aud: [AUDIENCE, 'web-app'], azp: 'web-app', at_hash: 'h' },
    client: 'client_id',
    identities: { user: { ...user, username: 'ada', groups: ['staff'] }, machine }
  }
}

/** The tokens of a provider, signed by the issuer: each from a sample, with changes. */
export function tokensOf (provider: Provider, issuer: Issuer) {
  const { header, jwt, user, machine, idToken } = SAMPLES[provider]
  const iss = jwt(issuer).issuer.replace('{tenantid}', TENANT_ID)
  const token =
    (sample: TokenClaims, header: TokenClaims) => (claims: TokenClaims = {}, ownHeader: TokenClaims = {}): string =>
      issuer.sign({ iss, iat: NOW - 10, exp: NOW + 3600, ...sample, ...claims }, { ...header, ...ownHeader })
  return { iss, user: token(user, header), machine: token(machine, header), idToken: token(idToken, { typ: 'JWT' }) }
}
