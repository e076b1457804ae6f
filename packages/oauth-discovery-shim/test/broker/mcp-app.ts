import type { Test } from 'tap'
import oauthBroker, { type BrokerOptions } from '../../src/broker/index.ts'
import { signInWorld as shimWorld, type World, type WorldOptions } from '../mcp-app.ts'

type OwnOptions = Omit<BrokerOptions, 'publicBaseUrl' | 'issuer' | 'clientId'>

export interface BrokerWorldOptions extends Omit<WorldOptions, 'shimOptions' | 'register' | 'ownCallback'> {
  readonly shimOptions: WorldOptions['shimOptions'] & { readonly broker: OwnOptions }
}

/** An app with the broker and an MCP endpoint behind it, and the identity provider it belongs to. */
export async function signInWorld (
  t: Test,
  { shimOptions: { broker, ...shimOptions }, ...world }: BrokerWorldOptions
): Promise<World> {
  return await shimWorld(t, {
    ...world,
    shimOptions,
    register: async (app, options) => {
      await app.register(oauthBroker, { ...options, ...broker })
    },
    ownCallback: '/oauth/callback'
  })
}
