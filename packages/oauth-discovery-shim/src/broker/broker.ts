import type { FastifyBaseLogger } from 'fastify'
import type { Provider } from '../provider.ts'
import { trustedKeys, type TrustedKeys } from './assertions/issuers.ts'
import type { AssertionSettings } from './assertions/options.ts'
import { clientDocuments, type ClientDocuments } from './clients/documents.ts'
import { clientsFrom, type Clients } from './clients/find.ts'
import { grantRecord, type GrantRecord } from './grants/record.ts'
import type { Target } from './sign-in/authorize.ts'
import type { BrokerSettings } from './options.ts'
import { providerCalls, type ProviderCalls } from './tokens/provider-calls.ts'
import { sharedResults, type Shared } from './tokens/shared.ts'
import { sealer, type Sealer } from './seal.ts'
import { availableStore } from './store/available.ts'
import type { BrokerStore } from './store/memory.ts'

/** What the endpoints of the broker work with. */
export interface Broker {
  readonly settings: BrokerSettings
  readonly provider: ProviderCalls
  readonly sealer: Sealer
  readonly store: BrokerStore
  readonly shared: Shared
  readonly clients: Clients
  readonly documents: ClientDocuments | undefined
  /** `undefined` without the option. */
  readonly assertions: AssertionSettings & { readonly trusted: TrustedKeys } | undefined
  /** `undefined` without the option. */
  readonly grants: GrantRecord | undefined
  readonly target: Target
  /** The one callback that is registered at the identity provider. */
  readonly callback: string
  /** Whether browsers reach this server over https. */
  readonly isSecure: boolean
}

export function brokerFrom (settings: BrokerSettings, provider: Provider, log: FastifyBaseLogger): Broker {
  const {
    publicBaseUrl,
    mcpPath,
    scopes,
    timeout,
    secrets,
    store,
    clients: listed,
    documents: allowed,
    appSchemes: schemes,
    requiredScopes,
    assertions,
    grants,
    refreshLifetime
  } = settings
  const isSecure = publicBaseUrl.startsWith('https:')
  const resource = `${publicBaseUrl}${mcpPath}`
  const seals = sealer(secrets, publicBaseUrl)
  const documents = allowed === false
    ? undefined
    // On this machine only for a server that nobody else reaches either.
    : clientDocuments({
      timeout,
      schemes,
      log,
      privateHosts: allowed.privateHosts ?? [],
      ca: allowed.ca,
      loopback: !isSecure
    })
  const clients = clientsFrom({ listed, sealer: seals, documents })
  return {
    settings,
    provider: providerCalls(provider, settings, log),
    sealer: seals,
    store: availableStore(store, log),
    shared: sharedResults(),
    clients,
    documents,
    assertions: assertions && { ...assertions, trusted: trustedKeys(assertions.issuers, provider, settings, log) },
    grants: grants &&
      grantRecord(grants, {
        clients,
        sealer: seals,
        canRevoke: () => typeof provider.metadata()?.['revocation_endpoint'] === 'string',
        refreshLifetime,
        log
      }),
    target: {
      scopes,
      requiredScopes,
      resource,
      // Clients spell it differently.
      resources: [resource, `${resource}/`, publicBaseUrl, `${publicBaseUrl}/`],
      appSchemes: schemes
    },
    callback: `${publicBaseUrl}/oauth/callback`,
    isSecure
  }
}
