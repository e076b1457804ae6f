import fp from 'fastify-plugin'
import type { FastifyInstance } from 'fastify'
import { serveDiscovery } from './discovery.ts'
import { pathServer } from './metadata.ts'
import { settingsFromOptions, type OAuthDiscoveryShimOptions } from './options.ts'

export * from './errors.ts'
export type { OAuthDiscoveryShimOptions } from './options.ts'
export type { AuthorizationServerMetadata, ClientRegistration, ProtectedResourceMetadata } from './metadata.ts'
export type { ProviderMetadata } from './provider-metadata.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * The `WWW-Authenticate` value for a 401 of the MCP endpoint to a request without credentials:
     * `Bearer resource_metadata="…", scope="…"` ([RFC 9728 §5.1](https://www.rfc-editor.org/rfc/rfc9728#section-5.1)).
     */
    readonly oauthChallenge: string
  }
}

/**
 * Serves the documents through which an MCP client that knows only the URL of the MCP endpoint finds
 * the identity provider's sign-in page, and registers it as the one client that exists there.
 *
 * @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION} an option is missing, wrong or unknown, or the plugin has a
 *   prefix
 */
async function plugin (app: FastifyInstance, options: OAuthDiscoveryShimOptions): Promise<void> {
  const settings = settingsFromOptions(options)
  await serveDiscovery(app, settings, (provider) => pathServer(provider, settings))
}

export default fp(plugin, { fastify: '^5.0.0', name: 'oauth-discovery-shim' })
