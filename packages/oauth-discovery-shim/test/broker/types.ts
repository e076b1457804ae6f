import type { FastifyInstance } from 'fastify'
import oauthBroker, { memoryBrokerStore, type BrokerOptions, type OAuthGrants } from '../../src/broker/index.ts'

// Nothing here runs: the assertion is that it compiles.
type Equals<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
type Holds<T extends true> = T

declare const app: FastifyInstance

const needed: BrokerOptions = {
  publicBaseUrl: 'https://shop.example.com',
  issuer: 'https://idp.example.com',
  clientId: 'x',
  secrets: [{ id: '1', secret: '' }]
}
app.register(oauthBroker, needed)
app.register(oauthBroker, {
  ...needed,
  mcpPath: '/mcp',
  clients: [{ id: '', name: '', redirectUris: [] }],
  documents: false,
  store: memoryBrokerStore()
})
// @ts-expect-error a broker has secrets
app.register(oauthBroker, { publicBaseUrl: '', issuer: '', clientId: '' })
// @ts-expect-error its documents are always served
app.register(oauthBroker, { ...needed, strictDiscovery: 'off' })

export type Assertions = [
  Holds<Equals<FastifyInstance['oauthChallenge'], string>>,
  Holds<Equals<FastifyInstance['oauthGrants'], OAuthGrants | undefined>>
]
