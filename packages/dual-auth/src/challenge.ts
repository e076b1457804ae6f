/** What a 401 tells a client about where to get a token. */
export interface ChallengeOptions {
  /** Absolute URL of the protected resource's metadata, RFC 9728 §5.1. */
  readonly resourceMetadata?: string
  /** Scopes that clients should request, separated by spaces, RFC 6750 §3. */
  readonly scope?: string
}

/** In seconds. Short: most causes of a 503 here are over in a moment. */
const RETRY_AFTER = '5'

/**
 * The headers of a refusal: a challenge for a 401 and for a missing scope, `Retry-After` for a 503.
 *
 * Bearer comes first and every value is quoted, because MCP clients read no other challenge and truncate unquoted
 * values. `error` is set only if a credential was presented (RFC 6750 §3.1).
 *
 * @param scopes for a 403, the scopes that would have been enough
 */
export function headersFromRefusal (code: string, challenge: ChallengeOptions, scopes: readonly string[] | null): Record<string, string> {
  switch (code) {
    case 'DUAL_AUTH_CREDENTIAL_MISSING':
      return { 'www-authenticate': bearer(undefined, challenge.scope, challenge) }
    case 'DUAL_AUTH_CREDENTIAL_INVALID':
      return { 'www-authenticate': bearer('invalid_token', challenge.scope, challenge) }
    case 'DUAL_AUTH_SCOPE_INSUFFICIENT':
      return { 'www-authenticate': bearer('insufficient_scope', scopes?.filter(isScopeToken).join(' ') || undefined, challenge) }
    case 'DUAL_AUTH_BUSY':
    case 'DUAL_AUTH_STORE_UNAVAILABLE':
    case 'DUAL_AUTH_PROVIDER_UNAVAILABLE':
      return { 'retry-after': RETRY_AFTER }
    default:
      return {}
  }
}

/** Whether a challenge may contain it, RFC 6749 §3.3: an operation id may be any string. */
function isScopeToken (scope: string): boolean {
  return /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)
}

function bearer (error: string | undefined, scope: string | undefined, { resourceMetadata }: ChallengeOptions): string {
  const parameters = Object.entries({ error, resource_metadata: resourceMetadata, scope })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}="${value}"`)
  return parameters.length === 0 ? 'Bearer' : `Bearer ${parameters.join(', ')}`
}
