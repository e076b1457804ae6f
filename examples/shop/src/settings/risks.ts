import { deflateRawSync } from 'node:zlib'
import { isTrustworthy, itemsOf } from './mistakes.ts'
import { type NamedSecret, secretFromText } from './secrets.ts'

/** What a production server is not started with, unless `ALLOW_INSECURE` names it. */
export const RISKS = [
  'any-machine-client', 'embedded-database', 'http-base-url', 'http-issuer', 'lost-secrets', 'pay-stand-in', 'public-pay-routes', 'shared-secrets', 'weak-secrets'
] as const

type Risk = typeof RISKS[number]

type Unchecked = Readonly<Record<string, unknown>>

/** What stands in the secrets of examples. */
const EXAMPLE = /change.?me|replace.?me|example|default|insecure|p[a4]ssw[o0]rd|secret/i

/** The id that the demo profile gives to its secrets. */
const DEMO = 'demo'

/** Rows and columns of a keyboard, digits and letters: what people type who need 32 characters. */
const ROWS = [
  '`1234567890-=', '~!@#$%^&*()_+', 'qwertyuiop[]', 'asdfghjkl;', 'zxcvbnm,./', '0123456789abcdefghijklmnopqrstuvwxyz0123456789',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p;/', 'qazwsxedcrfvtgbyhnujmikolp', 'q1w2e3r4t5y6u7i8o9p0', 'a1b2c3d4e5f6g7h8i9j0'
]
const PREDICTABLE = Buffer.from(ROWS.flatMap((row) => [row, [...row].toReversed().join('')]).join('\n'))

/** How many characters of a secret the rest of it and {@link ROWS} must not predict: so many, or for a short one this part. */
const UNPREDICTABLE = 20
const UNPREDICTABLE_PART = 0.75

/**
 * What about the settings is fit for a trial only, each with what it costs and the way to allow it.
 *
 * @param config - the settings; may be strings that were not checked yet
 */
export function risksIn (config: Unchecked): readonly string[] {
  const { DATABASE_URL, PUBLIC_BASE_URL, IDP_ISSUER, IDP_M2M_CLIENT_IDS, PAY_API_URL, PAY_ROUTES_PUBLIC } = config
  const risks: Array<readonly [Risk, string]> = []
  if (DATABASE_URL === undefined) risks.push(['embedded-database', 'DATABASE_URL is not set: the embedded database is for one process and for trials. Set it to the URL of a PostgreSQL database'])
  if (isHttp(PUBLIC_BASE_URL)) risks.push(['http-base-url', `PUBLIC_BASE_URL is ${PUBLIC_BASE_URL}: without https everybody on the way can read keys and tokens. Set it to the https address of the server`])
  // One on another machine is a mistake, which nothing allows.
  if (isHttp(IDP_ISSUER) && isTrustworthy(String(IDP_ISSUER))) risks.push(['http-issuer', `IDP_ISSUER is ${IDP_ISSUER}: an identity provider without https is one for trials, whose tokens anybody on this machine may make. Set it to the real one`])
  if (itemsOf(IDP_M2M_CLIENT_IDS).length === 0) {
    risks.push(['any-machine-client', 'IDP_M2M_CLIENT_IDS is not set: every client of the issuer with a scope that ends in /api reaches all shops, also one of another application. ' +
      'Name the clients of your machines, or put none there'])
  }
  if (PAY_API_URL !== undefined) risks.push(['pay-stand-in', 'PAY_API_URL is set: payments would go to a stand-in, and so would the payment keys of the shops. Leave it out'])
  if (String(PAY_ROUTES_PUBLIC) === 'true') {
    risks.push(['public-pay-routes', 'PAY_ROUTES_PUBLIC is true: anybody can replace and remove the payment keys of shops, without a token. Leave it out'])
  }
  risks.push(...secretRisks(config))
  return risks.filter(([risk]) => !allowedBy(config, risk)).map(([risk, what]) => `${what}. To start all the same, put ${risk} into ALLOW_INSECURE`)
}

/** @param config - the settings; may be strings that were not checked yet */
export function allowedBy ({ ALLOW_INSECURE: allowed }: Unchecked, risk: Risk): boolean {
  return itemsOf(allowed).includes(risk)
}

/** A secret of the settings, with what messages call it. */
interface UsedSecret extends NamedSecret {
  readonly setting: string
}

function secretRisks ({ API_KEY_PEPPERS, PAY_KEY_SECRETS, METRICS_TOKEN }: Unchecked): ReadonlyArray<readonly [Risk, string]> {
  const secrets: readonly UsedSecret[] = [
    ...Object.entries({ API_KEY_PEPPERS, PAY_KEY_SECRETS }).flatMap(([setting, value]) => itemsOf(value).map((text) => ({ setting, ...secretFromText(text) }))),
    ...(METRICS_TOKEN === undefined ? [] : [{ setting: 'METRICS_TOKEN', id: '', secret: String(METRICS_TOKEN) }])
  ]
  const settings = [...new Set(secrets.map(({ setting }) => setting))]
  const weak = settings.flatMap((setting) => {
    const found = secrets.filter((secret) => secret.setting === setting && isWeak(secret))
    return found.length === 0 ? [] : [`${setting} has secrets of an example or the demo, or too simple ones${idsOf(found)}: they can be guessed, and what they protect with them. Make each with openssl rand -base64 32`]
  })
  const shared = secrets.filter(({ setting, secret }) => secrets.some((other) => other.setting !== setting && other.secret === secret))
  return [
    ...weak.map((what) => ['weak-secrets', what] as const),
    ...(shared.length === 0
      ? []
      : [['shared-secrets', `${[...new Set(shared.map(({ setting }) => setting))].join(' and ')} have a secret in common: what leaks from one place opens the other. Make one for each with openssl rand -base64 32`] as const])
  ]
}

function idsOf (secrets: readonly NamedSecret[]): string {
  const ids = secrets.map(({ id }) => id).filter((id) => id !== '')
  return ids.length === 0 ? '' : ` (${ids.join(', ')})`
}

function isHttp (url: unknown): boolean {
  return /^http:/i.test(String(url))
}

function isWeak ({ id, secret }: NamedSecret): boolean {
  return id === DEMO || EXAMPLE.test(secret) || unpredictable(secret) < Math.min(UNPREDICTABLE, UNPREDICTABLE_PART * secret.length)
}

/** The size that compression leaves of it: repeats and what stands in its dictionary take no room. */
function unpredictable (secret: string): number {
  return deflateRawSync(secret.toLowerCase().replace(/(.)\1+/g, '$1'), { dictionary: PREDICTABLE }).length
}
