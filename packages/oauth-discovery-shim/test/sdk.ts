import * as sdk2 from '@modelcontextprotocol/client'
import * as sdk1Auth from '@modelcontextprotocol/sdk/client/auth.js'
import { Client as Sdk1Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Sdk1Transport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

/** The callback every client of the tests uses. */
export const callback = 'http://localhost:7777/callback'

/**
 * What both SDKs ask an application to keep for them.
 *
 * @param clientMetadataUrl - its metadata document. Default: it registers
 */
export function memory (redirectUrl = callback, clientMetadataUrl?: string) {
  const kept: { client?: object, tokens?: object, verifier?: string, discovery?: object } = {}
  const redirects: URL[] = []
  return {
    kept,
    redirects,
    redirectUrl,
    ...clientMetadataUrl !== undefined && { clientMetadataUrl },
    clientMetadata: { client_name: 'test', redirect_uris: [redirectUrl] },
    clientInformation: () => kept.client as never,
    saveClientInformation: (client: object) => {
      kept.client = client
    },
    tokens: () => kept.tokens as never,
    saveTokens: (tokens: object) => {
      kept.tokens = tokens
    },
    redirectToAuthorization: (url: URL) => {
      redirects.push(url)
    },
    saveCodeVerifier: (verifier: string) => {
      kept.verifier = verifier
    },
    saveDiscoveryState: (state: object) => {
      kept.discovery = state
    },
    discoveryState: () => kept.discovery as never,
    codeVerifier: () => kept.verifier ?? '',
    invalidateCredentials: (scope: string) => {
      if (scope === 'all' || scope === 'tokens') delete kept.tokens
    }
  }
}

/** One SDK as an application uses it: connect, and hand over what came back on the callback. */
export interface Line {
  /** Its id at the doctor. */
  readonly id: string
  readonly name: string
  readonly Unauthorized: new(message?: string) => Error
  attempt(
    url: URL,
    store: ReturnType<typeof memory>
  ): { connect(): Promise<Connected>, finish(params: URLSearchParams): Promise<void> }
}

interface Connected {
  listTools(): Promise<{ tools: Array<{ name: string }> }>
  callTool(call: { name: string }): Promise<unknown>
  close(): Promise<void>
}

export const lines: Line[] = [
  {
    id: 'sdk-1',
    name: 'SDK 1.x',
    Unauthorized: sdk1Auth.UnauthorizedError,
    attempt (url, authProvider) {
      const transport = new Sdk1Transport(url, { authProvider: authProvider as sdk1Auth.OAuthClientProvider })
      const client = new Sdk1Client({ name: 'test', version: '1.0.0' })
      return {
        connect: async () => {
          await client.connect(transport)
          return client as Connected
        },
        finish: async (params) => transport.finishAuth(params.get('code') ?? '')
      }
    }
  },
  {
    id: 'sdk-2',
    name: 'SDK 2.x',
    Unauthorized: sdk2.UnauthorizedError,
    attempt (url, authProvider) {
      const transport = new sdk2.StreamableHTTPClientTransport(url, {
        authProvider: authProvider as sdk2.OAuthClientProvider
      })
      const client = new sdk2.Client({ name: 'test', version: '1.0.0' })
      return {
        connect: async () => {
          await client.connect(transport)
          return client as Connected
        },
        finish: async (params) => transport.finishAuth(params)
      }
    }
  }
]
