import type { FastifyInstance } from 'fastify'
import plugin, {
  type AuthorizationServerMetadata,
  type ClientRegistration,
  type OAuthDiscoveryShimOptions,
  type ProtectedResourceMetadata
} from '../src/index.ts'
import type { doctor, report, Reason, Verdict } from '../src/doctor/index.ts'

// Nothing here runs: the assertion is that it compiles.
type Equals<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
type Holds<T extends true> = T

declare const app: FastifyInstance

// @ts-expect-error the challenge is not the host's to change
app.oauthChallenge = ''

const needed: OAuthDiscoveryShimOptions = {
  publicBaseUrl: 'https://shop.example.com',
  issuer: 'https://idp.example.com',
  clientId: ''
}
app.register(plugin, needed)
app.register(plugin, {
  ...needed,
  mcpPath: '/mcp',
  redirectUris: [],
  scopes: [],
  resourceName: '',
  strictDiscovery: 'off',
  advertisePkce: false,
  timeout: 1,
  refreshInterval: 1,
  config: {}
})
// @ts-expect-error the three needed options
app.register(plugin, { issuer: 'https://idp.example.com' })
// @ts-expect-error not a way to discover
app.register(plugin, { ...needed, strictDiscovery: 'root' })
// @ts-expect-error a plugin of its own
app.register(plugin, { ...needed, broker: { secrets: [] } })
// @ts-expect-error not an option
app.register(plugin, { ...needed, enabled: true })
// @ts-expect-error options are not changed after they are given
needed.clientId = 'another'

export type Assertions = [
  Holds<Equals<FastifyInstance['oauthChallenge'], string>>,
  Holds<Equals<OAuthDiscoveryShimOptions['strictDiscovery'], 'path' | 'off' | undefined>>,
  Holds<Equals<ProtectedResourceMetadata['authorization_servers'], readonly string[]>>,
  Holds<Equals<AuthorizationServerMetadata['registration_endpoint'], string | undefined>>,
  Holds<Equals<ClientRegistration['token_endpoint_auth_method'], 'none'>>,
  Holds<Equals<ReturnType<typeof doctor>, Promise<readonly Verdict[]>>>,
  Holds<Equals<ReturnType<typeof report>, string>>,
  Holds<Equals<NonNullable<Verdict['obstacle']>['reason'], Reason>>
]
