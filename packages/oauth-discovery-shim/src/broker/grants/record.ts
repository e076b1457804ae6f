import type { FastifyBaseLogger } from 'fastify'
import { decodeJwt } from 'jose'
import { attempt } from '../../json.ts'
import type { Clients } from '../clients/find.ts'
import type { Sealer } from '../seal.ts'
import type { ProviderTokens } from '../tokens/provider-calls.ts'
import type { GrantOptions } from './options.ts'

/** Keeps the record up to date. Never rejects: a sign-in does not depend on it, and the next refresh repairs it. */
export interface GrantRecord {
  /**
   * @param id - of the chain of refresh tokens
   * @param client - its id
   */
  issued(id: string, client: string, scope: string, tokens: ProviderTokens): Promise<void>
  ended(id: string): Promise<void>
}

/** Metadata documents and listed clients have short ids, which say something. */
const LONGEST_ID = 500

/** What a sealed token in the record says. */
export interface SealedToken {
  /** Of the grant that it is of: it says nothing in the row of another one. */
  readonly id: string
  readonly token: string
}

interface Surroundings {
  readonly clients: Clients
  readonly sealer: Sealer
  /** Whether the provider offers revocation (RFC 7009): otherwise its tokens are not kept. */
  readonly canRevoke: () => boolean
  readonly refreshLifetime: number
  readonly log: FastifyBaseLogger
}

export function grantRecord (
  { store, subjectClaim }: Required<GrantOptions>,
  { clients, sealer, canRevoke, refreshLifetime, log }: Surroundings
): GrantRecord {
  const read = typeof subjectClaim === 'function'
    ? subjectClaim
    : (claims: Readonly<Record<string, unknown>>) => claims[subjectClaim]
  let told = false

  async function logged (work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (err) {
      log.error({ err }, 'a sign-in could not be recorded')
    }
  }

  function subjectOf ({ accessToken, idToken }: ProviderTokens): string | undefined {
    let subject: unknown
    let err: unknown
    for (const claims of [accessToken, idToken].map(claimsOf)) {
      try {
        if (claims !== undefined) subject ??= read(claims)
      } catch (error) {
        // The function is the host's, and made for the claims that it expects.
        err = error
      }
    }
    if (typeof subject === 'string' && subject !== '') return subject
    if (!told) {
      log.warn(
        { ...typeof subjectClaim === 'string' && { subjectClaim }, ...err !== undefined && { err } },
        'a sign-in is not recorded: neither its access token nor an ID token says whose it is'
      )
    }
    told = true
    return undefined
  }

  return {
    async issued (id, client, scope, tokens) {
      const { source, name } = await clients.find(client).catch(() => ({
        source: undefined,
        name: client.startsWith('https://') ? new URL(client).host : 'An app'
      }))
      const usedAt = new Date(Date.now())
      await logged(store.record({
        id,
        subject: subjectOf(tokens),
        clientId: source === 'registration' || client.length > LONGEST_ID ? null : client,
        clientName: name,
        scope,
        usedAt,
        accessExpiresAt: tokens.expiresIn === undefined ? null : new Date(usedAt.getTime() + tokens.expiresIn * 1000),
        expiresAt: new Date(usedAt.getTime() + refreshLifetime),
        providerToken: tokens.refreshToken === undefined || !canRevoke()
          ? undefined
          : sealer.seal(
            'grant',
            { id, token: tokens.refreshToken } satisfies SealedToken,
            Math.ceil(refreshLifetime / 1000)
          )
      }))
    },
    ended: async (id) => {
      await logged(store.end(id))
    }
  }
}

/**
 * Of a token that came from its issuer itself, so that its signature need not be checked (OpenID Connect Core
 * §3.1.3.7); undefined for an opaque one.
 */
function claimsOf (token: string | undefined): Readonly<Record<string, unknown>> | undefined {
  return token === undefined ? undefined : attempt(() => decodeJwt(token))
}
