import { INTROSPECTION, type Introspection } from '../tokens/introspection.ts'
import { createIntrospector } from './introspector.ts'
import { introspectionSettings, type IntrospectionOptions } from './options.ts'

export type { IntrospectionOptions } from './options.ts'
export type { Introspection } from '../tokens/introspection.ts'

/**
 * For the option `introspection` of an issuer in `jwt`: asks the issuer about opaque tokens.
 *
 * @throws {@link DUAL_AUTH_INVALID_OPTION}
 * @see [RFC 7662](https://www.rfc-editor.org/rfc/rfc7662)
 */
export function introspection (options: IntrospectionOptions): Introspection {
  const settings = introspectionSettings(options)
  const { endpoint, jwts } = settings
  return { name: INTROSPECTION, endpoint, jwts, create: (parts) => createIntrospector(parts, settings) }
}
