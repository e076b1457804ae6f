import { issuerSettings, type JwtOptions, type JwtSettings } from '../options.ts'
import { readPublished, usableKeys } from '../tokens/jwks.ts'
import { examineToken } from './token.ts'
import { messageOf, type Finding } from './finding.ts'

export type { Finding } from './finding.ts'

/**
 * Reads what the issuers publish, as the plugin does at startup, and checks a token by the code of the plugin, without
 * a server. Nothing in the findings is secret.
 *
 * @param jwt - the option `jwt` of the plugin
 * @param token - an access token to check, without `Bearer`
 * @throws {@link DUAL_AUTH_INVALID_OPTION}
 */
export async function examine (jwt: JwtOptions | readonly JwtOptions[], token?: string): Promise<readonly Finding[]> {
  const issuers = issuerSettings(jwt)
  const findings = (await Promise.all(issuers.map(examineIssuer))).flat()
  if (token === undefined) return findings
  if (findings.some(({ level }) => level === 'fail')) {
    return [...findings, { level: 'fail', what: 'token', found: 'not checked: the issuer comes first' }]
  }
  return [...findings, ...await examineToken(issuers, token)]
}

async function examineIssuer (settings: JwtSettings): Promise<readonly Finding[]> {
  const { issuer, algorithms, jwks: own, audience } = settings
  const of = (level: Finding['level'], what: string, found: string): Finding => ({ level, what, found, issuer })
  try {
    const { jwks, introspectionEndpoint } = await readPublished(settings)
    const keys = usableKeys(jwks, algorithms)
    return [
      of('ok', 'issuer', issuer),
      of(
        'ok',
        'keys',
        `${keys.length} for ` +
          `${algorithms.join(', ')}${own === undefined ? '' : ', of the option jwks: nothing is read of this issuer'}`
      ),
      ...introspectionEndpoint === undefined
        ? []
        : [of('ok', 'endpoint', `opaque tokens are introspected at ${introspectionEndpoint}`)],
      ...audience === undefined
        ? [of('warn', 'audience', 'not set: tokens that clients requested for another resource are accepted too')]
        : []
    ]
  } catch (error) {
    return [of('fail', 'issuer', messageOf(error))]
  }
}
