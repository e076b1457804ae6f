/** What a challenge tells a client about where to get a token. */
export interface ChallengeOptions {
  /** Absolute URL of the protected resource's metadata, RFC 9728 §5.1. */
  readonly resourceMetadata?: string
  /** Scopes that clients should request at first, separated by spaces, RFC 6750 §3. */
  readonly scope?: string
}

/** In seconds. Short: most causes of a 503 here are over in a moment. */
const RETRY_AFTER = '5'

/** An error of ours, or of the host. */
interface Coded {
  readonly code?: unknown
  readonly statusCode?: unknown
}

/** What a challenge says beyond the options. */
export interface Refused {
  /** All scopes that the route needs of a token. */
  readonly scopes: readonly string[]
  /** Whether it was the `Authorization` header that was refused. */
  readonly isBearer: boolean
}

/**
 * The headers of a refusal: a challenge for a 401 and for scopes that a token lacks, `Retry-After` for a 503. The 403
 * of an API key has no challenge: its scopes are not OAuth scopes, and clients would ask the identity provider for
 * them.
 *
 * Bearer comes first and every value is quoted, because MCP clients read no other challenge and truncate unquoted
 * values. `error` is about a token, so it is set only if one was presented.
 *
 * @see [RFC 6750 §3.1](https://www.rfc-editor.org/rfc/rfc6750#section-3.1), and for the challenge of every 401
 *   [RFC 9110 §15.5.2](https://www.rfc-editor.org/rfc/rfc9110#section-15.5.2)
 */
export function headersFromRefusal (
  error: unknown,
  challenge: ChallengeOptions,
  { scopes, isBearer }: Refused
): Record<string, string> {
  switch (error instanceof Error ? (error as Coded).code : undefined) {
    case 'DUAL_AUTH_CREDENTIAL_MISSING':
      return { 'www-authenticate': bearer(undefined, challenge.scope, challenge) }
    case 'DUAL_AUTH_CREDENTIAL_INVALID':
      return { 'www-authenticate': bearer(isBearer ? 'invalid_token' : undefined, challenge.scope, challenge) }
    case 'DUAL_AUTH_TOKEN_SCOPE_INSUFFICIENT':
      return { 'www-authenticate': bearer('insufficient_scope', scopes.join(' '), challenge) }
    default:
      return headersFromOutage(error)
  }
}

/** `Retry-After` for a 503 of ours, and nothing for any other error. */
export function headersFromOutage (error: unknown): Record<string, string> {
  const { code, statusCode } = error instanceof Error ? error as Coded : {}
  return statusCode === 503 && String(code).startsWith('DUAL_AUTH_') ? { 'retry-after': RETRY_AFTER } : {}
}

function bearer (error: string | undefined, scope: string | undefined, { resourceMetadata }: ChallengeOptions): string {
  const parameters = Object.entries({ error, resource_metadata: resourceMetadata, scope })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}="${value}"`)
  return parameters.length === 0 ? 'Bearer' : `Bearer ${parameters.join(', ')}`
}
