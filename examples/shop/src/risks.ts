import type { Config } from './config.ts'
import { isTrustworthy, itemsOf } from './mistakes.ts'
import { type NamedSecret, secretFromText } from './secrets.ts'

/** What a production server is not started with, unless `ALLOW_INSECURE` names it. */
export const RISKS = ['embedded-database', 'http-base-url', 'http-issuer', 'pay-stand-in', 'weak-secrets'] as const

type Risk = typeof RISKS[number]

/** How many different characters a secret has at least. A random one of 32 has far more. */
const DISTINCT = 8

/** What stands in the secrets of examples. */
const EXAMPLE = /change.?me|replace.?me|example|default|insecure|p[a4]ssw[o0]rd|secret/i

/** The id that the demo profile gives to its secrets. */
const DEMO = 'demo'

/**
 * What about the settings is fit for a trial only, each with the way to allow it.
 *
 * @param config - the settings; may be texts that were not checked yet
 */
export function risksIn (config: Readonly<Record<string, unknown>>): readonly string[] {
  const { DATABASE_URL, PUBLIC_BASE_URL, IDP_ISSUER, PAY_API_URL, API_KEY_PEPPERS, PAY_KEY_SECRETS, ALLOW_INSECURE } = config as Partial<Config>
  const allowed = itemsOf(ALLOW_INSECURE)
  const risks: Array<readonly [Risk, string]> = []
  if (DATABASE_URL === undefined) risks.push(['embedded-database', 'DATABASE_URL is not set: the embedded database is for one process and for trials'])
  if (isHttp(PUBLIC_BASE_URL)) risks.push(['http-base-url', `PUBLIC_BASE_URL is ${PUBLIC_BASE_URL}: without https everybody on the way can read keys and tokens`])
  // One on another machine is a mistake, which nothing allows.
  if (isHttp(IDP_ISSUER) && isTrustworthy(String(IDP_ISSUER))) risks.push(['http-issuer', `IDP_ISSUER is ${IDP_ISSUER}: an identity provider without https is one for trials`])
  if (PAY_API_URL !== undefined) risks.push(['pay-stand-in', 'PAY_API_URL is set: payments would go to a stand-in, and so would the payment keys of the shops'])
  for (const [name, value] of Object.entries({ API_KEY_PEPPERS, PAY_KEY_SECRETS })) {
    const weak = itemsOf(value).map(secretFromText).filter(isWeak).map(({ id }) => id)
    if (weak.length > 0) risks.push(['weak-secrets', `${name} has secrets of an example or the demo, or too simple ones (${weak.join(', ')}): make one with openssl rand -base64 32`])
  }
  return risks.filter(([risk]) => !allowed.includes(risk)).map(([risk, what]) => `${what}. To start all the same, put ${risk} into ALLOW_INSECURE`)
}

function isHttp (url: unknown): boolean {
  return /^http:/i.test(String(url))
}

function isWeak ({ id, secret }: NamedSecret): boolean {
  return id === DEMO || EXAMPLE.test(secret) || new Set(secret).size < DISTINCT
}
