import type { JWTPayload } from 'jose'
import type { JwtOptions } from '../src/index.ts'

/** An access token that a provider, or a user of one, has published, with its names of people and hosts replaced. */
export interface Published {
  readonly title: string
  /** Where it stands. */
  readonly source: string
  readonly claims: JWTPayload
  /** The type in the header, if it is not JWT; null if there is none. */
  readonly typ?: string | null
  /** What else the header has. */
  readonly header?: Readonly<Record<string, string>>
  /** If it is not RS256. */
  readonly alg?: 'ES256' | 'ES384' | 'HS256'
  /** Beside the issuer, which ISSUER stands for. */
  readonly options: Omit<JwtOptions, 'issuer'>
  /** What the plugin makes of it, without the issuer; a reason if it is rejected. */
  readonly becomes: object | string
  /** What the doctor advises, if it is rejected. */
  readonly hint?: RegExp
}

const KEYCLOAK_MACHINE = {
  aud: 'account',
  sub: '1d2d88f8-8b68-4b6b-883f-1af68b598612',
  typ: 'Bearer',
  azp: 'tykjwt',
  preferred_username: 'service-account-tykjwt',
  email_verified: false,
  acr: '1',
  'allowed-origins': ['/*'],
  realm_access: { roles: ['default-roles-tyk', 'offline_access', 'uma_authorization'] },
  resource_access: { account: { roles: ['manage-account', 'view-profile'] } },
  scope: 'openid email profile',
  clientHost: '172.17.0.1',
  clientAddress: '172.17.0.1'
}
const keycloak = { provider: 'keycloak', audience: ['account'] } as const
const keycloakMachine = { kind: 'machine', clientId: 'tykjwt', scopes: ['openid', 'email', 'profile'] }

const sessions = { provider: 'generic', audience: ['https://api.example.com'], insecureNoAudience: true } as const

/** What a person has at most of the providers; each row takes away or adds what it is about. */
const person = { sub: 'u1', client_id: 'web', aud: 'https://api.example.com', scope: 'read' }
const standard = { provider: 'rfc9068', audience: ['https://api.example.com'] } as const
const generic = { provider: 'generic', audience: ['https://api.example.com'], userClients: ['web'] } as const
const WORKOS_MACHINE = {
  aud: 'client_01ENV',
  sub: 'client_01APP',
  client_id: 'client_01APP',
  org_id: 'org_01',
  scope: 'read',
  jti: 'x'
}
const WORKOS_APP = {
  ...WORKOS_MACHINE,
  aud: 'https://api.example.com',
  sub: 'user_01HBEQKA6K4QJAS93VPE39W1JT',
  client_id: 'client_01DCR',
  sid: 'app_consent_01'
}
const SUPABASE_SESSION = {
  aud: 'authenticated',
  sub: '123e4567-e89b-12d3-a456-426614174000',
  role: 'authenticated',
  aal: 'aal1',
  session_id: '123e4567',
  email: 'ada@example.com',
  phone: '',
  is_anonymous: false,
  app_metadata: { provider: 'email' }
}
const SUPABASE_APP = {
  ...SUPABASE_SESSION,
  user_id: SUPABASE_SESSION.sub,
  client_id: '9a8b7c6d-5e4f-3a2b-1c0d-9e8f7a6b5c4d'
}
const SUPABASE_PERSON = {
  kind: 'user',
  subject: SUPABASE_SESSION.sub,
  username: 'ada@example.com',
  groups: ['authenticated'],
  scopes: []
}
const supabase = { provider: 'supabase', audience: ['authenticated'], algorithms: ['ES256'] } as const
const constant = { ...supabase, provider: 'generic', userClients: ['authenticated'] } as const
const CASDOOR_PERSON = {
  aud: ['294b09fbc17f95daf2fe'],
  azp: '294b09fbc17f95daf2fe',
  sub: 'b6a7c1d2',
  owner: 'acme',
  name: 'ada',
  type: 'normal-user',
  tokenType: 'access-token',
  scope: 'read'
}
const CASDOOR_MACHINE = { ...CASDOOR_PERSON, sub: 'admin/shop', owner: 'admin', name: 'shop', type: 'application' }
const casdoor = { provider: 'generic', audience: CASDOOR_PERSON.aud, userClients: CASDOOR_PERSON.aud } as const
const AN_ATTACK = 'none: an attack'
const ID_TOKEN =
  /^(?:An ID token tells an app who signed in\. Send the access token|It names no client, so it (?:is|may be) an ID token)/

/** Tokens of many providers. */
export const TOKENS: readonly Published[] = [
  {
    title: 'Cognito: a person',
    source: 'docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-access-token.html',
    claims: {
      sub: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
      device_key: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
      'cognito:groups': ['testgroup'],
      version: 2,
      client_id: 'xxxxxxxxxxxxexample',
      origin_jti: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
      event_id: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
      token_use: 'access',
      scope: 'phone openid profile resourceserver.1/appclient2 email',
      auth_time: 1676313851,
      jti: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
      username: 'my-test-user'
    },
    options: { userClients: ['xxxxxxxxxxxxexample'] },
    becomes: {
      kind: 'user',
      subject: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
      username: 'my-test-user',
      groups: ['testgroup'],
      scopes: ['phone', 'openid', 'profile', 'resourceserver.1/appclient2', 'email']
    }
  },
  {
    title: 'Cognito: a machine with a scope that does not end in /api',
    source: 'zenn.dev/noid11/articles/d36dccd74601ed83d83b',
    claims: {
      sub: 'xxx',
      token_use: 'access',
      scope: 'sample/read',
      auth_time: 1633781133,
      version: 2,
      jti: '39cdbc77',
      client_id: 'xxx'
    },
    options: { userClients: [], machineScopes: ['sample/read'] },
    becomes: { kind: 'machine', clientId: 'xxx', scopes: ['sample/read'] }
  },
  {
    title: 'RFC 9068: the example of §3',
    source: 'rfc-editor.org/rfc/rfc9068#section-3',
    claims: {
      aud: 'https://rs.example.com/',
      sub: '5ba552d67',
      jti: 'dbe39bf3a3ba4238a513f51d6e1691c4',
      client_id: 's6BhdRkqt3',
      scope: 'openid profile reademail'
    },
    typ: 'at+jwt',
    options: { provider: 'rfc9068', audience: ['https://rs.example.com/'] },
    becomes: {
      kind: 'user',
      subject: '5ba552d67',
      username: null,
      groups: [],
      scopes: ['openid', 'profile', 'reademail']
    }
  },
  {
    title: 'Auth0: a person, in its own profile',
    source: 'auth0.com/docs/secure/tokens/access-tokens/access-token-profiles',
    claims: {
      sub: 'auth0|123456',
      aud: ['https://example.com/health-api', 'https://my-domain.auth0.com/userinfo'],
      azp: 'my_client_id',
      scope: 'openid profile read:patients read:admin',
      my_custom_claim: 'my_custom_value'
    },
    options: { provider: 'auth0', audience: ['https://example.com/health-api'] },
    becomes: {
      kind: 'user',
      subject: 'auth0|123456',
      username: null,
      groups: [],
      scopes: ['openid', 'profile', 'read:patients', 'read:admin']
    }
  },
  {
    title: 'Auth0: a person, in the profile of RFC 9068',
    source: 'auth0.com/docs/secure/tokens/access-tokens/access-token-profiles',
    claims: {
      sub: 'auth0|123456',
      aud: ['https://example.com/health-api', 'https://my-domain.auth0.com/userinfo'],
      client_id: 'my_client_id',
      jti: '73WakrfVbNJBaAmhQtEeDv',
      scope: 'openid profile read:patients read:admin'
    },
    options: { provider: 'auth0', audience: ['https://example.com/health-api'], userClients: ['my_client_id'] },
    becomes: {
      kind: 'user',
      subject: 'auth0|123456',
      username: null,
      groups: [],
      scopes: ['openid', 'profile', 'read:patients', 'read:admin']
    }
  },
  {
    title: 'Auth0: a machine without scopes',
    source: 'github.com, READMEs of APIs behind Auth0',
    claims: {
      sub: 'YOUR_CLIENT_ID@clients',
      aud: 'https://api.example.com',
      azp: 'YOUR_CLIENT_ID',
      gty: 'client-credentials'
    },
    options: { provider: 'auth0', audience: ['https://api.example.com'] },
    becomes: { kind: 'machine', clientId: 'YOUR_CLIENT_ID', scopes: [] }
  },
  {
    title: 'Entra: a person whose client is the API itself',
    source: 'learn.microsoft.com/entra/identity-platform/access-tokens, the sample of version 2.0',
    claims: {
      aud: '6e74172b-be56-4843-9ff4-e66a39bb12e3',
      azp: '6e74172b-be56-4843-9ff4-e66a39bb12e3',
      azpacr: '0',
      name: 'Ada',
      oid: '690222be-ff1a-4d56-abd1-7e4f7d38e474',
      preferred_username: 'ada@example.com',
      rh: 'I',
      scp: 'access_as_user',
      sub: 'HKZpfaHyWadeOouYlitjrI-KffTm222X5rrV3xDqfKQ',
      tid: '72f988bf-86f1-41af-91ab-2d7cd011db47',
      uti: 'fqiBqXLPj0eQa82S-IYFAA',
      ver: '2.0'
    },
    options: { provider: 'entra', audience: ['6e74172b-be56-4843-9ff4-e66a39bb12e3'] },
    becomes: {
      kind: 'user',
      subject: '690222be-ff1a-4d56-abd1-7e4f7d38e474',
      username: 'ada@example.com',
      groups: [],
      scopes: ['access_as_user']
    }
  },
  {
    title: 'Entra: a machine with app roles and without idtyp',
    source: 'github.com/karlospn/testing-entra-app-registration-process-using-terraform',
    claims: {
      aud: '2034f5fd-8e85-48f0-8282-983ee03319b5',
      aio: 'E2VgYLjBYnn7vPbZ',
      azp: 'e896bbda-6a3b-4309-a140-41c816049f09',
      azpacr: '1',
      oid: '013f9e69-d867-42bd-9ea1-6b3dda3dd2df',
      roles: ['Reader'],
      sub: '013f9e69-d867-42bd-9ea1-6b3dda3dd2df',
      tid: '8a0671e2-3a30-4d30-9cb9-ad709b9c744a',
      ver: '2.0'
    },
    options: { provider: 'entra', audience: ['2034f5fd-8e85-48f0-8282-983ee03319b5'] },
    becomes: { kind: 'machine', clientId: 'e896bbda-6a3b-4309-a140-41c816049f09', scopes: ['Reader'] }
  },
  {
    title: 'Entra: a machine with idtyp, whose sub is another than its oid',
    source: 'learn.microsoft.com/entra/agent-id/identity-platform/autonomous-agent-request-tokens',
    claims: {
      aud: 'api',
      azp: 'e8c058ec',
      azpacr: '1',
      idtyp: 'app',
      oid: '7fdc982b',
      sub: '/eid1/c/pub/t/9SY2Mv4bzUiJAt39_UThzg/a/7FjA6MU6hkC1jb1zHXuuTw/0a0df95c',
      tid: '323626f5',
      ver: '2.0',
      xms_act_fct: '9 3'
    },
    options: { provider: 'entra', audience: ['api'] },
    becomes: { kind: 'machine', clientId: 'e8c058ec', scopes: [] }
  },
  {
    title: 'Entra: version 1.0',
    source: 'learn.microsoft.com/entra/identity-platform/access-tokens, the sample of version 1.0',
    claims: {
      aud: 'ef1da9d4-ff77-4c3e-a005-840c3f830745',
      acr: '1',
      amr: ['pwd'],
      appid: '75dbe77f-10a3-4e59-85fd-8c127544f17c',
      appidacr: '0',
      oid: '690222be',
      scp: 'user_impersonation',
      sub: '5_J9rSss8-jvt_Icu6ueRNL8xXb8LF4Fsg_KooC2RJQ',
      tid: 'fa15d692',
      unique_name: 'ada@example.com',
      ver: '1.0'
    },
    options: {
      provider: 'entra',
      audience: ['ef1da9d4-ff77-4c3e-a005-840c3f830745'],
      userClients: ['75dbe77f-10a3-4e59-85fd-8c127544f17c']
    },
    becomes: {
      kind: 'user',
      subject: '690222be',
      username: 'ada@example.com',
      groups: [],
      scopes: ['user_impersonation']
    }
  },
  {
    title: 'Entra: a machine in version 1.0',
    source: 'learn.microsoft.com/entra/identity-platform/access-token-claims-reference',
    claims: {
      aud: 'api://shop',
      appid: '75dbe77f',
      appidacr: '1',
      idtyp: 'app',
      oid: '013f9e69',
      roles: ['Reader'],
      sub: '013f9e69',
      tid: 'fa15d692',
      uti: 'x',
      ver: '1.0'
    },
    options: { provider: 'entra', audience: ['api://shop'], userClients: ['75dbe77f'] },
    becomes: { kind: 'machine', clientId: '75dbe77f', scopes: ['Reader'] }
  },
  {
    title: 'Azure AD B2C: a person, at a policy with a claim for the object id',
    source: 'learn.microsoft.com/azure/active-directory-b2c/tokens-overview, the claims that it lists',
    claims: {
      aud: '90c0fe63-bcf2-44d5-8fb7-b8bbc0b29dc6',
      azp: 'web',
      name: 'Ada',
      nbf: 1,
      oid: '884408e1-2918-4cz0-b12d-3aa027d7563b',
      scp: 'read',
      sub: '884408e1-2918-4cz0-b12d-3aa027d7563b',
      tfp: 'B2C_1_signupsignin1',
      ver: '1.0'
    },
    options: { provider: 'entra', audience: ['90c0fe63-bcf2-44d5-8fb7-b8bbc0b29dc6'], userClients: ['web'] },
    becomes: {
      kind: 'user',
      subject: '884408e1-2918-4cz0-b12d-3aa027d7563b',
      username: null,
      groups: [],
      scopes: ['read']
    }
  },
  {
    title: 'Azure AD B2C: a person, at a policy without',
    source: 'learn.microsoft.com/azure/active-directory-b2c/tokens-overview, the claims that it lists',
    claims: { aud: '90c0fe63', azp: 'web', sub: '884408e1', tfp: 'B2C_1_signupsignin1', scp: 'read', ver: '1.0' },
    options: { provider: 'entra', audience: ['90c0fe63'], claims: { subject: 'sub' } },
    becomes: { kind: 'user', subject: '884408e1', username: null, groups: [], scopes: ['read'] }
  },
  {
    title: 'Azure AD B2C: an ID token, which names no client',
    source: 'learn.microsoft.com/azure/active-directory-b2c/tokens-overview, the claims that it lists',
    claims: { aud: '90c0fe63', sub: '884408e1', tfp: 'B2C_1_signupsignin1', ver: '1.0', auth_time: 1 },
    options: { provider: 'entra', audience: ['90c0fe63'], claims: { subject: 'sub' } },
    becomes: 'azp or appid is not a string'
  },
  {
    title: 'Keycloak: a machine',
    source: 'tyk.io/docs, "Keycloak": the claims of a service account',
    claims: { ...KEYCLOAK_MACHINE, client_id: 'tykjwt' },
    options: keycloak,
    becomes: keycloakMachine
  },
  {
    title: 'Keycloak: a machine of an earlier version',
    source: 'keycloak.org, "Upgrading Guide": the claim clientId became client_id',
    claims: { ...KEYCLOAK_MACHINE, clientId: 'tykjwt' },
    options: keycloak,
    becomes: keycloakMachine
  },
  {
    title: 'Keycloak: a machine without client_id, that is listed',
    source: 'github.com, documentation of workspace-api',
    claims: {
      aud: ['workspace-api'],
      azp: 'ws-bob',
      typ: 'Bearer',
      sub: 'b1e2',
      preferred_username: 'service-account-ws-bob',
      resource_access: { 'ws-bob': { roles: ['ws_api'] } }
    },
    options: { ...keycloak, audience: ['workspace-api'], machineClients: ['ws-bob'] },
    becomes: { kind: 'machine', clientId: 'ws-bob', scopes: [] }
  },
  {
    title: 'Keycloak: a machine without client_id, that is not listed',
    source: 'github.com, documentation of workspace-api',
    claims: {
      aud: ['workspace-api'],
      azp: 'ws-bob',
      typ: 'Bearer',
      sub: 'b1e2',
      preferred_username: 'service-account-ws-bob'
    },
    options: { ...keycloak, audience: ['workspace-api'] },
    becomes: 'it is unclear whether a person or a machine holds it'
  },
  {
    title: 'Keycloak: a machine without the scope profile, that is listed',
    source: 'keycloak.org, "Server Administration Guide", client scopes',
    claims: { ...KEYCLOAK_MACHINE, client_id: 'tykjwt', preferred_username: undefined },
    options: { ...keycloak, machineClients: ['tykjwt'] },
    becomes: keycloakMachine
  },
  {
    title: 'Keycloak: a machine without both scopes, that is listed',
    source: 'keycloak.org, "Server Administration Guide", client scopes',
    claims: { ...KEYCLOAK_MACHINE, preferred_username: undefined },
    options: { ...keycloak, machineClients: ['tykjwt'] },
    becomes: 'it is unclear whether a person or a machine holds it',
    hint: /Give the client "tykjwt" both default scopes, profile and service_account/
  },
  {
    title: "Keycloak: another client's machine, whose token was exchanged",
    source: 'keycloak.org, "Configuring and using token exchange"',
    claims: { ...KEYCLOAK_MACHINE, preferred_username: 'service-account-another' },
    options: { ...keycloak, userClients: ['tykjwt'] },
    becomes: 'it is unclear whether a person or a machine holds it'
  },
  {
    title: 'Keycloak: a person with the name of a service account, at a client that is listed and that the token names',
    source: 'none: an attack',
    claims: { ...KEYCLOAK_MACHINE, client_id: 'another' },
    options: { ...keycloak, machineClients: ['tykjwt'] },
    becomes: 'it is unclear whether a person or a machine holds it'
  },
  {
    title: 'Keycloak: a person with the name of a service account, who signed in at a client that is listed',
    source: 'none: an attack',
    claims: { ...KEYCLOAK_MACHINE, sid: 's' },
    options: { ...keycloak, machineClients: ['tykjwt'] },
    becomes: 'it is unclear whether a person or a machine holds it'
  },
  {
    title: 'Okta: a person',
    source: 'developer.okta.com/docs/guides/customize-tokens-static',
    claims: {
      ver: 1,
      jti: 'AT.bcNo4WsBA8QS81SOrrTxWbqMsO50lrFxlYK88DlAPiM',
      aud: 'api://default',
      cid: '0oaoesxtxmPf08QHk0h7',
      uid: '00uixa271s6x7qt8I0h7',
      scp: ['openid'],
      sub: 'ada@example.com',
      ATClaim: 'x'
    },
    options: { provider: 'okta', audience: ['api://default'] },
    becomes: {
      kind: 'user',
      subject: '00uixa271s6x7qt8I0h7',
      username: 'ada@example.com',
      groups: [],
      scopes: ['openid']
    }
  },
  {
    title: 'Okta: a person whose sub is the id, as in early versions',
    source: 'developer.okta.com/standards/OAuth',
    claims: {
      ver: 1,
      jti: 'AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE',
      aud: 'https://api.example.com',
      sub: '00ujmkLgagxeRrAg20g3',
      cid: 'nmdP1fcyvdVO11AL7ECm',
      uid: '00ujmkLgagxeRrAg20g3',
      scp: ['openid', 'flights'],
      flight_number: 'AX102'
    },
    options: { provider: 'okta', audience: ['https://api.example.com'] },
    becomes: {
      kind: 'user',
      subject: '00ujmkLgagxeRrAg20g3',
      username: '00ujmkLgagxeRrAg20g3',
      groups: [],
      scopes: ['openid', 'flights']
    }
  },
  {
    title: 'Okta: a machine with auth_time',
    source: 'github.com/pegasystems/pega-helm-charts, charts/backingservices: the token of srs',
    claims: {
      ver: 1,
      jti: 'AT.EmHCGDFHE18hC5j3stjbarVonh46twW7tWutB9v8hsw',
      aud: 'srs-cmc-stg',
      cid: '0oa8acv8gbBPRCZ7I5d7',
      scp: ['pega.search:full'],
      auth_time: 1000,
      sub: '0oa8acv8gbBPRCZ7I5d7',
      guid: 'bf0d4cb6'
    },
    options: { provider: 'okta', audience: ['srs-cmc-stg'] },
    becomes: { kind: 'machine', clientId: '0oa8acv8gbBPRCZ7I5d7', scopes: ['pega.search:full'] }
  },
  {
    title: 'Zitadel: a person with roles',
    source: 'zitadel.com/docs/apis/openidoauth/claims: what a JWT has; the roles as of holos-run',
    claims: {
      aud: ['257714027772314751@holos_platform', '257713952794870157'],
      azp: '257714027772314751@holos_platform',
      jti: 'V2_257',
      nbf: 1,
      sub: '257712562366383231',
      'urn:zitadel:iam:org:project:roles': { 'prod-cluster-admin': { '257712562366317695': 'example.com' } }
    },
    options: { provider: 'zitadel', audience: ['257713952794870157'] },
    becomes: { kind: 'user', subject: '257712562366383231', username: null, groups: ['prod-cluster-admin'], scopes: [] }
  },
  {
    title: 'authentik: a person',
    source: 'github.com, JWT guide of an app behind authentik',
    claims: {
      sub: 'dummy-sub-id-1234567890abcdef',
      aud: 'pickle-web',
      auth_time: 1781979114,
      acr: 'goauthentik.io/providers/oauth2/default',
      sid: 'dummy-session-id',
      jti: 'dummy-jti',
      preferred_username: 'ada@example.com',
      groups: [],
      azp: 'pickle-web',
      uid: 'dummy-uid-1234567890',
      scope: 'email profile offline_access user_profile openid'
    },
    options: { provider: 'authentik', audience: ['pickle-web'] },
    becomes: {
      kind: 'user',
      subject: 'dummy-sub-id-1234567890abcdef',
      username: 'ada@example.com',
      groups: [],
      scopes: ['email', 'profile', 'offline_access', 'user_profile', 'openid']
    }
  },
  {
    title: 'authentik: the client credentials of an app that people sign in with',
    source: 'docs.goauthentik.io, "Machine-to-machine authentication"',
    claims: {
      sub: 'dummy-sub-id-1234567890abcdef',
      aud: 'pickle-web',
      preferred_username: 'ak-pickle-client_credentials',
      azp: 'pickle-web',
      uid: 'dummy-uid-1234567890'
    },
    options: { provider: 'authentik', audience: ['pickle-web'], userClients: ['pickle-web'] },
    becomes: 'it is unclear whether a person or a machine holds it',
    hint: /^It has a mark of a machine.*If "pickle-web" is a machine alone, add it to machineClients$/
  },
  {
    title: 'OpenIddict: a machine whose subject is not its client, that is listed',
    source: 'documentation.openiddict.com, "Client credentials"',
    claims: { sub: 'Console', client_id: 'console', aud: 'api', oi_prst: 'console' },
    typ: 'at+jwt',
    options: { provider: 'rfc9068', audience: ['api'], machineClients: ['console'] },
    becomes: 'it is unclear whether a person or a machine holds it',
    hint: /^"console" is one of machineClients, .* If people sign in with it, add it to userClients; .*generic$/
  },
  {
    title: 'OpenIddict: the same with the provider generic',
    source: 'documentation.openiddict.com, "Client credentials"',
    claims: { sub: 'Console', client_id: 'console', aud: 'api', oi_prst: 'console' },
    typ: 'at+jwt',
    options: { provider: 'generic', audience: ['api'], userClients: [], machineClients: ['console'] },
    becomes: { kind: 'machine', clientId: 'console', scopes: [] }
  },
  {
    title: 'Stytch: a person at a connected app',
    source: 'stytch.com/docs/b2b/api/connected-app-access-token',
    claims: {
      sub: 'user-test-16d9ba61-97a1-4ba4-9720-b03761dc50c6',
      aud: ['PROJECT_ID'],
      client_id: 'connected-app-test-d731954d',
      nbf: 1,
      jti: 'LOe49j3s9d9dmacslUvrb15ZIjPbptMm7fS5UlE52JCF',
      scope: 'openid email profile phone'
    },
    options: { provider: 'generic', audience: ['PROJECT_ID'], userClients: ['connected-app-test-d731954d'] },
    becomes: {
      kind: 'user',
      subject: 'user-test-16d9ba61-97a1-4ba4-9720-b03761dc50c6',
      username: null,
      groups: [],
      scopes: ['openid', 'email', 'profile', 'phone']
    }
  },
  {
    title: 'Corppass: a person whose sub is a list of names',
    source:
      'docs.corppass.gov.sg/technical-specifications/corppass-authorization-api/token-endpoint/access-token-structure',
    claims: {
      scope: 'authinfo tpauthinfo',
      aud: ['https://corppass.example/authorization-info'],
      client_id: '97ZZnLxUfzzVz50kfCwB',
      sub: 's=S1234567P,uuid=0f14a2fc-09c2-4780-95f0-8c28347f2780,u=CP192,c=SG',
      jti: 'vhC0eLzU-ol8IQ0RuFL5f'
    },
    options: {
      provider: 'generic',
      audience: ['https://corppass.example/authorization-info'],
      userClients: ['97ZZnLxUfzzVz50kfCwB']
    },
    becomes: {
      kind: 'user',
      subject: 's=S1234567P,uuid=0f14a2fc-09c2-4780-95f0-8c28347f2780,u=CP192,c=SG',
      username: null,
      groups: [],
      scopes: ['authinfo', 'tpauthinfo']
    }
  },
  {
    title: 'PingOne: a machine, which has no sub, that is listed',
    source:
      'developer.pingidentity.com/pingone-api/foundations/authentication-concepts/access-tokens-and-id-tokens/token-claims',
    claims: {
      client_id: 'c7e31d36',
      aud: ['https://api.example.com'],
      scope: 'read',
      env: '5caa81af',
      org: '7d1a5b3c'
    },
    options: {
      provider: 'generic',
      audience: ['https://api.example.com'],
      userClients: ['web'],
      machineClients: ['c7e31d36']
    },
    becomes: { kind: 'machine', clientId: 'c7e31d36', scopes: ['read'] }
  },
  {
    title: 'PingOne: a machine that is not listed',
    source:
      'developer.pingidentity.com/pingone-api/foundations/authentication-concepts/access-tokens-and-id-tokens/token-claims',
    claims: { client_id: 'c7e31d36', aud: ['https://api.example.com'], scope: 'read' },
    options: { provider: 'generic', audience: ['https://api.example.com'], userClients: ['c7e31d36'] },
    becomes: 'it is unclear whether a person or a machine holds it'
  },
  {
    title: 'Clerk: a person by the token of a session, whose client is the origin of the app',
    source: 'clerk.com/docs/guides/sessions/session-tokens, version 2 of the claims',
    claims: {
      azp: 'https://app.example.com',
      fva: [7, -1],
      nbf: 1,
      sid: 'sess_123',
      sts: 'active',
      sub: 'user_123',
      v: 2,
      o: { id: 'org_123', rol: 'admin', slg: 'org-slug' }
    },
    options: { ...sessions, userClients: ['https://app.example.com'], claims: { groups: ['o', 'rol'] } },
    becomes: { kind: 'user', subject: 'user_123', username: null, groups: ['admin'], scopes: [] }
  },
  {
    title: 'Clerk: a person by the token of a session at the app of another origin',
    source: 'clerk.com/docs/guides/sessions/session-tokens, version 2 of the claims',
    claims: { azp: 'https://other.example.com', sid: 'sess_123', sub: 'user_123', v: 2 },
    options: { ...sessions, userClients: ['https://app.example.com'] },
    becomes: 'client is not a known app'
  },
  {
    title: 'WorkOS: a person by the token of a session, which names no client',
    source: 'workos.com/docs/reference/authkit/session-tokens',
    claims: {
      sub: 'user_01HBEQKA6K4QJAS93VPE39W1JT',
      act: { sub: 'admin@example.com' },
      org_id: 'org_01HRDMC6CM357W30QMHMQ96Q0S',
      role: 'member',
      roles: ['member'],
      permissions: ['posts:read', 'posts:write'],
      entitlements: ['audit-logs'],
      sid: 'session_01HQSXZGF8FHF7A9ZZFCW4387R',
      jti: '01HQSXZXPPFPKMDD32RKTFY6PV'
    },
    options: { ...sessions, sessionTokens: true, claims: { scopes: 'permissions' } },
    becomes: {
      kind: 'user',
      subject: 'user_01HBEQKA6K4QJAS93VPE39W1JT',
      username: null,
      groups: ['member'],
      scopes: ['posts:read', 'posts:write']
    }
  },
  {
    title: 'WorkOS: a token of a session that is for another API',
    source: 'none: an attack',
    claims: { sub: 'user_01HBEQKA6K4QJAS93VPE39W1JT', aud: 'https://other.example.com', sid: 's' },
    options: { ...sessions, sessionTokens: true },
    becomes: 'aud is another resource'
  },
  {
    title: 'WorkOS: a machine at Connect, where sessions of people are accepted and its audience is listed',
    source: 'workos.com/docs/authkit/connect/token-claims',
    claims: WORKOS_MACHINE,
    options: { ...sessions, audience: ['client_01ENV'], sessionTokens: true, machineClients: [] },
    becomes: 'client is not a known machine',
    hint: /add "client_01APP" to machineClients$/
  },
  {
    title: 'WorkOS: an app that registered itself, for this API',
    source: 'workos.com/docs/authkit/connect/token-claims: aud is the resource that was requested',
    claims: WORKOS_APP,
    options: { ...generic, userClients: 'any', machineClients: [] },
    becomes: { kind: 'user', subject: 'user_01HBEQKA6K4QJAS93VPE39W1JT', username: null, groups: [], scopes: ['read'] }
  },
  {
    title: 'WorkOS: an app that registered itself, for another API',
    source: AN_ATTACK,
    claims: { ...WORKOS_APP, aud: 'https://other.example.com' },
    options: { ...generic, userClients: 'any', machineClients: [] },
    becomes: 'aud is another resource',
    hint: /^Request a token for your API/
  },
  {
    title: 'WorkOS: an app that registered itself, for no API in particular',
    source: 'workos.com/docs/authkit/connect/token-claims: aud is then the environment client ID',
    claims: { ...WORKOS_APP, aud: 'client_01ENV' },
    options: { ...generic, userClients: 'any', machineClients: [] },
    becomes: 'aud is another resource'
  },
  {
    title: 'WorkOS: a machine where any app of people is accepted',
    source: AN_ATTACK,
    claims: { ...WORKOS_MACHINE, aud: 'https://api.example.com' },
    options: { ...generic, userClients: 'any', machineClients: [] },
    becomes: 'client is not a known machine'
  },
  {
    title: 'WorkOS: an app that registered itself, where apps of people are listed',
    source: 'workos.com/docs/authkit/connect/token-claims',
    claims: WORKOS_APP,
    options: generic,
    becomes: 'client is not a known app',
    hint: /add "client_01DCR" to userClients$/
  },
  {
    title: 'PropelAuth: a person by the token of a session',
    source: 'docs.propelauth.com: the claims that its libraries read',
    claims: { sub: 'u1', user_id: 'u1', email: 'ada@example.com', org_id_to_org_member_info: { o1: { org_id: 'o1' } } },
    options: { ...sessions, sessionTokens: true, claims: { username: 'email' } },
    becomes: { kind: 'user', subject: 'u1', username: 'ada@example.com', groups: [], scopes: [] }
  },
  {
    title: 'Casdoor: a person',
    source: 'github.com/casdoor/casdoor, object/token_jwt.go',
    claims: CASDOOR_PERSON,
    options: casdoor,
    becomes: { kind: 'user', subject: 'b6a7c1d2', username: null, groups: [], scopes: ['read'] }
  },
  {
    title: 'Casdoor: the client credentials of an app that people sign in with',
    source: 'github.com/casdoor/casdoor, GetClientCredentialsToken: the application stands for the user',
    claims: CASDOOR_MACHINE,
    options: casdoor,
    becomes: 'it is unclear whether a person or a machine holds it',
    hint: /type application.*If "294b09fbc17f95daf2fe" is a machine alone, add it to machineClients$/
  },
  {
    title: 'Casdoor: the client credentials of an app for machines',
    source: 'github.com/casdoor/casdoor, GetClientCredentialsToken',
    claims: CASDOOR_MACHINE,
    options: { ...casdoor, userClients: [], machineClients: ['294b09fbc17f95daf2fe'] },
    becomes: { kind: 'machine', clientId: '294b09fbc17f95daf2fe', scopes: ['read'] }
  },
  {
    title: 'Casdoor: a refresh token, which is a JWT for the same audience',
    source: 'github.com/casdoor/casdoor, object/token_jwt.go',
    claims: { ...CASDOOR_PERSON, tokenType: 'refresh-token' },
    options: casdoor,
    becomes: 'the claim tokenType is not that of an access token',
    hint: ID_TOKEN
  },
  {
    title: 'WorkOS: a machine at Connect',
    source: 'workos.com/docs/authkit/connect/token-claims',
    claims: WORKOS_MACHINE,
    options: { provider: 'generic', audience: ['client_01ENV'], userClients: [] },
    becomes: { kind: 'machine', clientId: 'client_01APP', scopes: ['read'] }
  },
  {
    title: 'Logto: a person, with an empty scope',
    source: 'github.com, tests of Astraios by Paion Data: a token of a tenant at logto.app',
    claims: {
      jti: 'WfCj_vt9jcjcYppL1Ul8Q',
      sub: 'vj8jmpsbrcb9',
      scope: '',
      client_id: 'ypon89z8rtrjdg5ta669l',
      aud: 'http://localhost:8080/v1/data'
    },
    typ: 'at+jwt',
    alg: 'ES384',
    options: {
      provider: 'rfc9068',
      audience: ['http://localhost:8080/v1/data'],
      algorithms: ['ES384'],
      userClients: ['ypon89z8rtrjdg5ta669l']
    },
    becomes: { kind: 'user', subject: 'vj8jmpsbrcb9', username: null, groups: [], scopes: [] }
  },
  {
    title: 'Logto: a machine',
    source: 'github.com, a script of a user that calls the management API of a tenant at logto.app',
    claims: {
      jti: 'XDgwxLKpS50MM5mrx6aXt',
      sub: 'plc6sivdsftm6uxkcjt6d',
      scope: 'all',
      client_id: 'plc6sivdsftm6uxkcjt6d',
      aud: 'https://tenant.logto.app/api'
    },
    typ: 'at+jwt',
    alg: 'ES384',
    options: {
      provider: 'rfc9068',
      audience: ['https://tenant.logto.app/api'],
      algorithms: ['ES384'],
      userClients: ['web']
    },
    becomes: { kind: 'machine', clientId: 'plc6sivdsftm6uxkcjt6d', scopes: ['all'] }
  },
  {
    title: 'Duende: a person',
    source: 'docs.duendesoftware.com/identityserver/fundamentals/resources/api-resources',
    claims: { client_id: 'client', sub: '123', aud: 'invoice', scope: 'read write delete' },
    typ: 'at+jwt',
    options: { provider: 'generic', audience: ['invoice'], userClients: ['client'] },
    becomes: { kind: 'user', subject: '123', username: null, groups: [], scopes: ['read', 'write', 'delete'] }
  },
  {
    title: 'Kinde: a machine, which has no sub, that is listed',
    source: 'docs.kinde.com/machine-to-machine-applications/about-m2m/token-structure-and-claims-for-m2m-applications',
    claims: {
      aud: ['your-api-audience'],
      azp: 'd4d3c5b74e064badb9625a4aa6241bcc',
      gty: ['client_credentials'],
      jti: 'f95ed3e0',
      scope: 'read:users write:flags',
      scp: ['read:users', 'write:flags'],
      v: '2'
    },
    options: {
      provider: 'generic',
      audience: ['your-api-audience'],
      userClients: ['web'],
      machineClients: ['d4d3c5b74e064badb9625a4aa6241bcc']
    },
    becomes: { kind: 'machine', clientId: 'd4d3c5b74e064badb9625a4aa6241bcc', scopes: ['read:users', 'write:flags'] }
  },
  {
    title: 'Kinde: a machine at a client that is listed for people only',
    source: 'none: an attack',
    claims: { aud: ['your-api-audience'], azp: 'web', sub: 'kp_1', gty: ['client_credentials'], scp: ['read:users'] },
    options: { provider: 'generic', audience: ['your-api-audience'], userClients: ['web'] },
    becomes: 'it is unclear whether a person or a machine holds it'
  },
  {
    title: 'Supabase: a person by a session of your own app',
    source: 'supabase.com/docs/guides/auth/jwt-fields',
    claims: SUPABASE_SESSION,
    alg: 'ES256',
    options: supabase,
    becomes: SUPABASE_PERSON
  },
  {
    title: 'Supabase: an OAuth app that is listed',
    source: 'supabase.com/docs/guides/auth/oauth-server/token-security',
    claims: SUPABASE_APP,
    alg: 'ES256',
    options: { ...supabase, userClients: ['9a8b7c6d-5e4f-3a2b-1c0d-9e8f7a6b5c4d'] },
    becomes: SUPABASE_PERSON
  },
  ...([
    ['that is not listed', supabase],
    ['beside sessions of the provider generic', { ...supabase, provider: 'generic', sessionTokens: true }],
    ['where the audience stands for the client', { ...constant, claims: { client: 'aud' } }],
    ['where the role stands for the client', { ...constant, claims: { client: 'role' } }]
  ] as const).map(([which, options]): Published => ({
    title: `Supabase: an OAuth app of somebody else ${which}`,
    source: 'supabase.com/docs/guides/auth/oauth-server/token-security: client_id alone differs',
    claims: SUPABASE_APP,
    alg: 'ES256',
    options,
    becomes: 'client is not a known app',
    hint: /add "9a8b7c6d-5e4f-3a2b-1c0d-9e8f7a6b5c4d" to userClients$/
  })),
  {
    title: 'Supabase: an ID token of an OAuth app whose id is listed as an audience',
    source: 'supabase.com/docs/guides/auth/oauth-server/oauth-flows',
    claims: { aud: '9a8b7c6d', sub: '123e4567-e89b-12d3-a456-426614174000', auth_time: 1, email: 'ada@example.com' },
    alg: 'ES256',
    options: { ...supabase, audience: ['9a8b7c6d'] },
    becomes: 'session_id is missing: it is an ID token',
    hint: ID_TOKEN
  },
  {
    title: 'Firebase: a person, by an ID token, which has no nonce there',
    source: 'firebase.google.com/docs/auth/admin/verify-id-tokens, the claims that it lists',
    claims: {
      aud: 'my-project',
      auth_time: 1,
      user_id: 'u1',
      sub: 'u1',
      email: 'ada@example.com',
      firebase: { identities: {}, sign_in_provider: 'password' }
    },
    options: {
      provider: 'generic',
      audience: ['my-project'],
      userClients: ['my-project'],
      claims: { client: 'aud', username: 'email' }
    },
    becomes: { kind: 'user', subject: 'u1', username: 'ada@example.com', groups: [], scopes: [] }
  },
  {
    title: 'Google: a service account, by its ID token',
    source: 'cloud.google.com/docs/authentication/get-id-token: azp and sub are the id of the account',
    claims: {
      aud: 'https://api.example.com',
      azp: '102345678901234567890',
      email: 'robot@my-project.iam.gserviceaccount.com',
      email_verified: true,
      sub: '102345678901234567890'
    },
    options: {
      provider: 'generic',
      audience: ['https://api.example.com'],
      userClients: [],
      machineClients: ['102345678901234567890']
    },
    becomes: { kind: 'machine', clientId: '102345678901234567890', scopes: [] }
  },
  {
    title: 'Google: a service account of somebody else',
    source: 'none: an attack',
    claims: { aud: 'https://api.example.com', azp: '666', email: 'robot@other.iam.gserviceaccount.com', sub: '666' },
    options: {
      provider: 'generic',
      audience: ['https://api.example.com'],
      userClients: [],
      machineClients: ['102345678901234567890']
    },
    becomes: 'client is not a known machine'
  },
  {
    title: 'GitHub Actions: a workflow',
    source: 'docs.github.com/actions/concepts/security/openid-connect',
    claims: {
      sub: 'repo:octo-org/octo-repo:environment:prod',
      environment: 'prod',
      aud: 'https://api.example.com',
      ref: 'refs/heads/main',
      repository: 'octo-org/octo-repo',
      repository_owner: 'octo-org',
      actor: 'octocat',
      workflow: 'example-workflow',
      event_name: 'workflow_dispatch',
      job_workflow_ref: 'octo-org/octo-automation/.github/workflows/oidc.yml@refs/heads/main',
      jti: 'x'
    },
    options: {
      provider: 'generic',
      audience: ['https://api.example.com'],
      userClients: [],
      machineClients: ['repo:octo-org/octo-repo:environment:prod'],
      claims: { client: 'sub' }
    },
    becomes: { kind: 'machine', clientId: 'repo:octo-org/octo-repo:environment:prod', scopes: [] }
  },
  {
    title: 'Kubernetes: a service account',
    source: 'kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin',
    claims: {
      aud: ['https://api.example.com'],
      jti: 'ea28ed49',
      'kubernetes.io': { namespace: 'my-namespace', serviceaccount: { name: 'my-service-account', uid: '14ee3fa4' } },
      nbf: 1,
      sub: 'system:serviceaccount:my-namespace:my-service-account'
    },
    options: {
      provider: 'generic',
      audience: ['https://api.example.com'],
      userClients: [],
      machineClients: ['system:serviceaccount:my-namespace:my-service-account'],
      claims: { client: 'sub' }
    },
    becomes: { kind: 'machine', clientId: 'system:serviceaccount:my-namespace:my-service-account', scopes: [] }
  },
  {
    title: 'Hydra: a machine, whose scopes are a list',
    source: 'github.com/ory/hydra/discussions/3430: scp is a list; a client is the subject of its own token',
    claims: {
      client_id: 'b1f6',
      sub: 'b1f6',
      aud: ['https://api.example.com'],
      scp: ['read'],
      ext: {},
      nbf: 1,
      jti: 'x'
    },
    options: { provider: 'generic', audience: ['https://api.example.com'], userClients: [] },
    becomes: { kind: 'machine', clientId: 'b1f6', scopes: ['read'] }
  },
  {
    title: 'Cognito: an ID token',
    source: 'docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-id-token.html',
    claims: {
      sub: 'aaaaaaaa-bbbb',
      'cognito:groups': ['test-group-a'],
      'cognito:username': 'my-test-user',
      nonce: 'abcdefg',
      aud: 'xxxxxxxxxxxxexample',
      token_use: 'id',
      auth_time: 1676312777,
      email: 'my-test-user@example.com'
    },
    options: { userClients: ['xxxxxxxxxxxxexample'] },
    becomes: 'token_use is not access',
    hint: ID_TOKEN
  },
  {
    title: 'Cognito: a machine without a scope of a machine',
    source: 'zenn.dev/noid11/articles/d36dccd74601ed83d83b',
    claims: { sub: 'xxx', token_use: 'access', scope: 'sample/read', version: 2, client_id: 'xxx' },
    options: { userClients: [] },
    becomes: 'no machine scope',
    hint: /scope that ends in \/api.*machineScopes$/
  },
  {
    title: 'Cognito: the newer issuer of a pool whose older one is listed',
    source: 'docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-access-token.html',
    claims: {
      iss: 'https://issuer-cognito-idp.eu-west-1.amazonaws.com/POOL',
      sub: 'a',
      token_use: 'access',
      client_id: 'web',
      username: 'ada'
    },
    options: { userClients: ['web'] },
    becomes: 'iss is another issuer',
    hint: /the other issuer of your user pool: let jwt list both/
  },
  {
    title: 'Auth0: an ID token',
    source: 'auth0.com/docs/secure/tokens/id-tokens/id-token-structure',
    claims: {
      name: 'Jane Doe',
      email: 'janedoe@example.com',
      sub: 'auth0|USER-ID',
      aud: 'https://example.com/health-api',
      nonce: 'crypto-value',
      at_hash: 'x'
    },
    options: { provider: 'auth0', audience: ['https://example.com/health-api'] },
    becomes: 'nonce, at_hash or c_hash is present: it is an ID token',
    hint: ID_TOKEN
  },
  {
    title: 'Auth0: a token that is signed with the secret of the API',
    source: 'auth0.com/docs/get-started/applications/signing-algorithms',
    claims: { sub: 'auth0|123456', aud: 'https://example.com/health-api', azp: 'web' },
    alg: 'HS256',
    options: { provider: 'auth0', audience: ['https://example.com/health-api'] },
    becomes: 'alg is not allowed',
    hint: /^Choose an asymmetric algorithm at the provider, such as RS256/
  },
  {
    title: 'Auth0: a machine whose subject an action has changed',
    source: AN_ATTACK,
    claims: { sub: 'auth0|123456', aud: 'https://example.com/health-api', azp: 'robot', gty: 'client-credentials' },
    options: { provider: 'auth0', audience: ['https://example.com/health-api'] },
    becomes: 'it is unclear whether a person or a machine holds it',
    hint: /^gty says that it is a machine/
  },
  {
    title: 'Entra: a token for Microsoft Graph, with version 1.0',
    source:
      'learn.microsoft.com/troubleshoot/entra/entra-id/app-integration/troubleshooting-signature-validation-errors',
    claims: {
      iss: 'https://sts.windows.net/72f988bf-86f1-41af-91ab-2d7cd011db47/',
      aud: '00000003-0000-0000-c000-000000000000',
      appid: 'web',
      oid: '690222be',
      scp: 'User.Read',
      sub: 's',
      tid: '72f988bf-86f1-41af-91ab-2d7cd011db47',
      ver: '1.0'
    },
    options: { provider: 'entra', audience: ['6e74172b'] },
    becomes: 'iss is another issuer',
    hint: /^It is a token for Microsoft Graph\. Request a scope of your API/
  },
  {
    title: 'Entra: version 1.0 where 2.0 is expected',
    source: 'learn.microsoft.com/entra/identity-platform/access-tokens, the sample of version 1.0',
    claims: {
      iss: 'https://sts.windows.net/fa15d692-e9c7-4460-a743-29f2956fd429/',
      aud: 'ef1da9d4',
      appid: '75dbe77f',
      oid: '690222be',
      scp: 'user_impersonation',
      sub: '5_J9',
      tid: 'fa15d692',
      ver: '1.0'
    },
    options: { provider: 'entra', audience: ['ef1da9d4'] },
    becomes: 'iss is another issuer',
    hint: /^It is of version 1\.0 of Entra: set api\.requestedAccessTokenVersion to 2/
  },
  {
    title: 'Entra: an ID token',
    source: 'learn.microsoft.com/entra/identity-platform/id-tokens, the sample of version 2.0',
    claims: {
      ver: '2.0',
      sub: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
      aud: '6cb04018-a3f5-46a7-b995-940c78f5aef3',
      name: 'Abe Lincoln',
      preferred_username: 'AbeLi@example.com',
      oid: '00000000',
      tid: '9122040d',
      nonce: '123523',
      aio: 'Df2U'
    },
    options: { provider: 'entra', audience: ['api'] },
    becomes: 'aud is another resource',
    hint: ID_TOKEN
  },
  {
    title: 'Entra: a token whose audience has api:// in front',
    source: 'learn.microsoft.com/entra/identity-platform/access-token-claims-reference, aud of version 1.0',
    claims: { aud: 'api://6e74172b', appid: 'web', oid: 'o', scp: 'access_as_user', sub: 's', tid: 't', ver: '1.0' },
    options: { provider: 'entra', audience: ['6e74172b'] },
    becomes: 'aud is another resource',
    hint:
      /^It differs from 6e74172b in the slash at its end or in api:\/\/ in front: if both mean your API, list both in audience/
  },
  {
    title: 'Azure AD B2C: a person whose policy sends no object id',
    source: 'learn.microsoft.com/azure/active-directory-b2c/tokens-overview, the claims that it lists',
    claims: { aud: '90c0fe63', azp: 'web', sub: '884408e1', tfp: 'B2C_1_signupsignin1', scp: 'read', ver: '1.0' },
    options: { provider: 'entra', audience: ['90c0fe63'] },
    becomes: 'oid is not a string',
    hint: /^Azure AD B2C: set claims\.subject to sub, or let the policy send oid$/
  },
  {
    title: 'Keycloak: a person, without a mapper for the audience',
    source: 'keycloak.org, "Server Administration Guide", audience support',
    claims: { aud: 'account', typ: 'Bearer', azp: 'web', sub: 'b1e2', preferred_username: 'ada', sid: 's' },
    options: { provider: 'keycloak', audience: ['shop'] },
    becomes: 'aud is another resource',
    hint: /^Keycloak: add a client scope with a mapper of the type Audience/
  },
  {
    title: 'Keycloak: a person, with the audience of another API',
    source: AN_ATTACK,
    claims: { aud: ['other', 'account'], typ: 'Bearer', azp: 'web', sub: 'b1e2', preferred_username: 'ada', sid: 's' },
    options: { provider: 'keycloak', audience: ['shop'] },
    becomes: 'aud is another resource',
    hint: /^Request a token for your API/
  },
  {
    title: 'Keycloak: an ID token',
    source: 'keycloak.org, "Server Administration Guide", the claim typ',
    claims: { aud: 'shop', typ: 'ID', azp: 'web', sub: 'b1e2', at_hash: 'x' },
    options: { provider: 'keycloak', audience: ['shop'] },
    becomes: 'the claim typ is not Bearer',
    hint: ID_TOKEN
  },
  {
    title: "Okta: a token of the organization's own server",
    source: 'developer.okta.com/docs/concepts/auth-servers: nobody else may validate them',
    claims: {
      ver: 1,
      aud: 'https://example.okta.com',
      cid: '0oa',
      uid: '00u',
      scp: ['openid'],
      sub: 'ada@example.com'
    },
    header: { kid: 'not published' },
    options: { provider: 'okta', audience: ['api://default'] },
    becomes: 'kid is unknown',
    hint: /does not publish this key/
  },
  {
    title: 'Zitadel: a machine, by its client credentials or JWT profile, without azp',
    source: 'github.com/cleanenergyexchange/fastapi-zitadel-auth/issues/3, where a maintainer of Zitadel shows it',
    claims: {
      sub: '286399320075272196',
      aud: ['294645919545032706'],
      nbf: 1,
      client_id: 'foo',
      jti: 'V2_296398617516703746-at_296398617516769282'
    },
    options: { provider: 'zitadel', audience: ['294645919545032706'], machineClients: ['foo'] },
    becomes: { kind: 'machine', clientId: 'foo', scopes: [] }
  },
  {
    title: 'Zitadel: an ID token',
    source: 'zitadel.com/docs/apis/openidoauth/claims: without jti',
    claims: {
      aud: ['257713952794870157'],
      azp: '257714027772314751',
      sub: '257712562366383231',
      amr: ['pwd'],
      auth_time: 1,
      at_hash: 'x'
    },
    options: { provider: 'zitadel', audience: ['257713952794870157'] },
    becomes: 'jti is missing: it is an ID token',
    hint: ID_TOKEN
  },
  {
    title: 'authentik: an ID token',
    source: 'docs.goauthentik.io, OAuth 2.0 provider: only access tokens have uid',
    claims: { sub: 'x', aud: 'pickle-web', azp: 'pickle-web', auth_time: 1, amr: ['pwd'], sid: 's' },
    options: { provider: 'authentik', audience: ['pickle-web'] },
    becomes: 'uid is missing: it is an ID token',
    hint: ID_TOKEN
  },
  {
    title: 'Google: a person, by an ID token',
    source: 'developers.google.com/identity/openid-connect/openid-connect, the sample',
    claims: {
      azp: 'web',
      aud: 'web',
      sub: '10769150350006150715113082367',
      at_hash: 'HK6E_P6Dh8Y93mRNtsDB1Q',
      hd: 'example.com',
      email: 'jsmith@example.com',
      email_verified: true,
      nonce: '0394852-3190485-2490358'
    },
    options: { ...generic, audience: ['web'] },
    becomes: 'nonce, at_hash or c_hash is present: it is an ID token',
    hint: ID_TOKEN
  },
  {
    title: 'GitHub Actions: a workflow of a repository from after July 15, 2026, whose subject has ids that are ' +
      'never used again',
    source: 'learn.microsoft.com/entra/workload-id/workload-identities-github-immutable-subjects; ' +
      'github.com/github/docs/pull/45221',
    claims: {
      sub: 'repo:octocat@123456/my-repo@456789:ref:refs/heads/main',
      aud: 'https://api.example.com',
      repository: 'octocat/my-repo',
      repository_id: '456789',
      repository_owner_id: '123456',
      ref: 'refs/heads/main',
      runner_environment: 'github-hosted'
    },
    options: {
      ...generic,
      userClients: [],
      machineClients: ['repo:octocat@123456/my-repo@456789:ref:refs/heads/main'],
      claims: { client: 'sub' }
    },
    becomes: { kind: 'machine', clientId: 'repo:octocat@123456/my-repo@456789:ref:refs/heads/main', scopes: [] }
  },
  {
    title: 'GitHub Actions: somebody who took over the name of a repository that was deleted',
    source: AN_ATTACK,
    claims: { sub: 'repo:octocat@999999/my-repo@888888:ref:refs/heads/main', aud: 'https://api.example.com' },
    options: {
      ...generic,
      userClients: [],
      machineClients: ['repo:octocat@123456/my-repo@456789:ref:refs/heads/main'],
      claims: { client: 'sub' }
    },
    becomes: 'client is not a known machine',
    hint: /to machineClients$/
  },
  {
    title: 'GitHub Actions: a workflow of another branch',
    source: 'docs.github.com/actions/concepts/security/openid-connect',
    claims: {
      sub: 'repo:octo-org/octo-repo:ref:refs/heads/demo',
      aud: 'https://api.example.com',
      repository: 'octo-org/octo-repo'
    },
    options: {
      ...generic,
      userClients: [],
      machineClients: ['repo:octo-org/octo-repo:environment:prod'],
      claims: { client: 'sub' }
    },
    becomes: 'client is not a known machine',
    hint: /add "repo:octo-org\/octo-repo:ref:refs\/heads\/demo" to machineClients$/
  },
  {
    title: 'Kubernetes: the token of a pod, as a cluster of version 1.30 issues it',
    source: 'gist.github.com/tsaarni/79b8b51610c948562cfe5d2e1002cae4: with node and warnafter, and without a type',
    claims: {
      aud: ['https://kubernetes.default.svc.cluster.local'],
      jti: 'e51f1fbc',
      'kubernetes.io': {
        namespace: 'default',
        node: { name: 'worker', uid: '517e' },
        pod: { name: 'shell', uid: '0d8b' },
        serviceaccount: { name: 'default', uid: 'e6a8' },
        warnafter: 1717674962
      },
      nbf: 1,
      sub: 'system:serviceaccount:default:default'
    },
    typ: null,
    options: {
      ...generic,
      audience: ['https://kubernetes.default.svc.cluster.local'],
      userClients: [],
      machineClients: ['system:serviceaccount:default:default'],
      claims: { client: 'sub' }
    },
    becomes: { kind: 'machine', clientId: 'system:serviceaccount:default:default', scopes: [] }
  },
  {
    title: 'Kubernetes: the token of a Secret, which never expires',
    source: 'github.com/SovereignCloudStack/standards/issues/34: the claims of an ordinary token',
    claims: {
      iss: 'kubernetes/serviceaccount',
      'kubernetes.io/serviceaccount/namespace': 'default',
      sub: 'system:serviceaccount:default:mytestaccount'
    },
    options: { ...generic, userClients: [], machineClients: [], claims: { client: 'sub' } },
    becomes: 'iss is another issuer',
    hint: /^It is the token of a Secret of Kubernetes, which never expires/
  },
  {
    title: 'an identity assertion (ID-JAG) in place of an access token',
    source: 'datatracker.ietf.org/doc/html/draft-ietf-oauth-identity-assertion-authz-grant',
    claims: {
      sub: 'U019488227',
      aud: 'https://shop.example/oauth',
      client_id: 'agent',
      resource: 'https://shop.example/mcp',
      jti: 'x'
    },
    typ: 'oauth-id-jag+jwt',
    options: standard,
    becomes: 'typ is not an access token',
    hint: /^It is an identity assertion \(ID-JAG\), which is exchanged for an access token/
  },
  {
    title: 'a token that a broker of this repository issued for an assertion, where its issuer is not listed',
    source: 'packages/oauth-discovery-shim/docs/enterprise.md',
    claims: { ...person, iss: 'https://shop.example/oauth', sub: 'https://acme.example#U019488227' },
    typ: 'at+jwt',
    options: standard,
    becomes: 'iss is another issuer',
    hint: /^It looks like a token that a server with oauth-discovery-shim issued itself.*jwks: brokerKeySet/
  },
  {
    title: 'RFC 9068: a provider that sends no type',
    source: 'rfc-editor.org/rfc/rfc9068#section-2.1',
    claims: person,
    options: standard,
    becomes: 'typ is not an access token',
    hint: /requires the type at\+jwt.*generic$/
  },
  {
    title: 'a slash too many at the end of the issuer',
    source: 'auth0.com/docs',
    claims: { ...person, iss: 'ISSUER/' },
    options: generic,
    becomes: 'iss is another issuer',
    hint: /^It differs from http:\S+ in the slash at its end/
  },
  {
    title: 'a token that names its client otherwise',
    source: 'developer.okta.com',
    claims: { ...person, client_id: undefined, cid: 'web' },
    options: generic,
    becomes: 'client_id or azp is not a string',
    hint: /^It names its client in cid.*set claims\.client to cid$/
  },
  {
    title: 'a token without an audience',
    source: 'clerk.com/docs',
    claims: { sub: 'u1', client_id: 'web' },
    options: generic,
    becomes: 'aud is missing',
    hint: /insecureNoAudience/
  },
  {
    title: 'a token of an app that is not listed',
    source: AN_ATTACK,
    claims: { ...person, client_id: 'other' },
    options: generic,
    becomes: 'client is not a known app',
    hint: /add "other" to userClients$/
  },
  {
    title: 'a token whose scopes are a number',
    source: AN_ATTACK,
    claims: { ...person, scope: 7 },
    options: generic,
    becomes: 'scopes are not a list of scopes',
    hint: /here it is scope or scp$/
  },
  {
    title: 'a token that is not valid yet',
    source: 'rfc-editor.org/rfc/rfc7519#section-4.1.5',
    claims: { ...person, nbf: 4_000_000_000 },
    options: generic,
    becomes: 'The token will be active at 2096-10-02T07:06:35.000Z.',
    hint: /^Compare the clocks/
  },
  {
    title: 'a token that has expired',
    source: 'rfc-editor.org/rfc/rfc7519#section-4.1.4',
    claims: { ...person, exp: 1_000_000_000 },
    options: generic,
    becomes: 'Authorization token expired',
    hint: /^Get a new one/
  },
  {
    title: 'a token that never expires',
    source: AN_ATTACK,
    claims: { ...person, exp: null as never },
    options: generic,
    becomes: 'The exp claim must be a number.',
    hint: /^Times are numbers of seconds/
  },
  {
    title: 'a token bound to a key of its client',
    source: 'rfc-editor.org/rfc/rfc9449#section-6.1',
    claims: { ...person, cnf: { jkt: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I' } },
    options: generic,
    becomes: 'cnf is present: the token is bound to a key',
    hint: /^Turn off DPoP or mutual TLS/
  },
  {
    title: 'Entra: a token bound to a certificate',
    source: 'learn.microsoft.com/entra/msidweb/call-downstream-apis/token-binding',
    claims: {
      aud: 'api',
      oid: 'o',
      azp: 'web',
      ver: '2.0',
      scp: 'read',
      cnf: { 'x5t#S256': 'A4DtL2JmUMhAsvJj5tKyn64SqzmuXbMrJa0n761y5v0' }
    },
    options: { provider: 'entra', audience: ['api'] },
    becomes: 'cnf is present: the token is bound to a key',
    hint: /^Turn off DPoP or mutual TLS/
  },
  {
    title: 'a logout token without a type',
    source: 'openid.net/specs/openid-connect-backchannel-1_0.html#LogoutToken',
    claims: { ...person, events: { 'http://schemas.openid.net/event/backchannel-logout': {} } },
    options: generic,
    becomes: 'events is present: it is a logout token or another security event',
    hint: /calls nothing\. Send the access token$/
  },
  {
    title: 'a listed machine whose sub is null',
    source: AN_ATTACK,
    claims: { ...person, sub: null as never },
    options: { ...generic, userClients: [], machineClients: ['web'] },
    becomes: 'sub is not a string',
    hint: /^sub is null: let the provider send an id.*may lack it, but not be null or empty$/
  },
  {
    title: 'a refresh token of Keycloak 7 or later',
    source: 'keycloak.org: signed with HS512, the claim typ is Refresh',
    claims: { ...person, typ: 'Refresh' },
    options: generic,
    becomes: 'the claim typ is not that of an access token',
    hint: ID_TOKEN
  }
]
