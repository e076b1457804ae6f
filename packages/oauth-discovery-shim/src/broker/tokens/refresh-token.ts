import type { Broker } from '../broker.ts'
import type { ClientAuth } from '../../client-document/client.ts'
import type { ProviderTokens } from './provider-calls.ts'

/** What a refresh token of this server holds. */
export interface RefreshToken {
  readonly family: string
  readonly client: string
  readonly auth: ClientAuth
  /** What the identity provider granted. */
  readonly scope: string
  /** What the client asked for; left out if that is what it got. */
  readonly asked?: string
  /** Its place in the chain, from 1. */
  readonly generation: number
  /** The identity provider's refresh token. */
  readonly token: string
}

/** The higher the number of a chain of refresh tokens, the later. This one is later than all of them. */
export const REVOKED = 2 ** 31 - 1

/** Under which the number of a chain of refresh tokens is stored. */
export const familyKey = (family: string): string => `family:${family}`

/** In seconds. */
export const lifetimeOf = ({ settings: { refreshLifetime } }: Broker): number => Math.ceil(refreshLifetime / 1000)

/**
 * The tokens as the client gets them: the access token as it is, and the next refresh token of the chain.
 *
 * @see [RFC 6749 §6](https://www.rfc-editor.org/rfc/rfc6749#section-6): a client that requests fewer scopes once may
 *   request all of them the next time
 */
export function responseFrom (
  { accessToken, expiresIn, refreshToken, scope }: ProviderTokens,
  used: RefreshToken,
  broker: Broker
): object {
  const next: RefreshToken = { ...used, generation: used.generation + 1, token: refreshToken ?? used.token }
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: expiresIn,
    ...next.token !== '' && { refresh_token: broker.sealer.seal('refresh', next, lifetimeOf(broker)) },
    scope: scope ?? used.scope
  }
}
