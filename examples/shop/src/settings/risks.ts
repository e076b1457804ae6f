import { isTrustworthy, itemsOf } from './mistakes.ts'
import { type NamedSecret, secretFromText } from './secrets.ts'

/** Settings that a production server rejects, unless `ALLOW_INSECURE` names them. */
export const RISKS = [
  'any-machine-client',
  'embedded-database',
  'http-base-url',
  'http-issuer',
  'lost-secrets',
  'pay-stand-in',
  'public-pay-routes',
  'shared-secrets',
  'weak-secrets'
] as const

type Risk = typeof RISKS[number]

/** Settings, as strings or parsed. */
type Given = Readonly<Record<string, unknown>>

/** Found in secrets that were copied from examples. */
const EXAMPLE = /change.?me|replace.?me|made.with|example|default|insecure|p[a4]ssw[o0]rd|secret/i

/** The id of the demo's secrets. */
const DEMO = 'demo'

/**
 * A secret has more different characters than this, or than a third of its length if that is less: a word that is
 * repeated has not. A random one of 32 hexadecimal digits has thirteen or fourteen.
 */
const FEW = 8

/** The settings that are only acceptable for a trial, each with its danger and how to allow it. */
export function risksIn (config: Given): readonly string[] {
  return refusals(config, takenIn(config))
}

/** The same for commands that only read the settings of the database. */
export function databaseRisksIn (config: Given): readonly string[] {
  return refusals(config, takenIn(config).filter(([risk]) => risk === 'embedded-database'))
}

function refusals (config: Given, taken: readonly Taken[]): readonly string[] {
  return taken.filter(([risk]) => !allowedBy(config, risk)).map(([risk, what]) =>
    `${what}. To allow this, add ${risk} to ALLOW_INSECURE`
  )
}

type Taken = readonly [risk: Risk, what: string]

function takenIn (config: Given): readonly Taken[] {
  const {
    DATABASE_URL,
    PUBLIC_BASE_URL,
    IDP_ISSUER,
    IDP_SECOND_ISSUER,
    IDP_INTROSPECTION_ENDPOINT,
    IDP_M2M_CLIENT_IDS,
    OAUTH_BROKER_ASSERTION_ISSUERS,
    PAY_API_URL,
    PAY_ROUTES_PUBLIC
  } = config
  const risks: ReadonlyArray<readonly [Risk, isTaken: boolean, string]> = [
    [
      'embedded-database',
      DATABASE_URL === undefined,
      'DATABASE_URL is not set: the embedded database is for trials and a single process. Set the URL of a ' +
      'PostgreSQL database'
    ],
    [
      'http-base-url',
      isHttp(PUBLIC_BASE_URL),
      `PUBLIC_BASE_URL is ${PUBLIC_BASE_URL}: without https, keys and tokens can be read on the way. Set the ` +
      'https address of the server'
    ],
    // On another machine it is a mistake, which says the same.
    [
      'http-issuer',
      isHttp(IDP_ISSUER) && isTrustworthy(String(IDP_ISSUER)),
      `IDP_ISSUER is ${IDP_ISSUER}: an identity provider without https is for trials, since anyone on this ` +
      'machine may issue its tokens. Set the real one'
    ],
    ...Object.entries({ IDP_SECOND_ISSUER, IDP_INTROSPECTION_ENDPOINT }).map(([name, url]) =>
      [
        'http-issuer',
        isHttp(url) && isTrustworthy(String(url)),
        `${name} is ${url}: without https it is for trials, since anyone on this machine may answer there. Set ` +
        'the real one'
      ] as const
    ),
    [
      'http-issuer',
      itemsOf(OAUTH_BROKER_ASSERTION_ISSUERS).some((issuer) => isHttp(issuer) && isTrustworthy(issuer)),
      'OAUTH_BROKER_ASSERTION_ISSUERS has an issuer without https: anyone on this machine may then issue ' +
      'assertions. Set the real ones'
    ],
    [
      'any-machine-client',
      itemsOf(IDP_M2M_CLIENT_IDS).length === 0,
      'IDP_M2M_CLIENT_IDS is not set: any client of the issuer with a scope that ends in /api reaches all ' +
      'shops, including clients of other applications. List your machine clients, or set none'
    ],
    [
      'pay-stand-in',
      PAY_API_URL !== undefined,
      'PAY_API_URL is set: payments and the payment keys of all shops would go to a stand-in. Remove it'
    ],
    [
      'public-pay-routes',
      String(PAY_ROUTES_PUBLIC) === 'true',
      'PAY_ROUTES_PUBLIC is true: anyone can replace and remove the payment keys of shops, without a token. Remove it'
    ],
    ...secretRisks(config).map(([risk, what]) => [risk, true, what] as const)
  ]
  return risks.filter(([, isTaken]) => isTaken).map(([risk, , what]) => [risk, what])
}

export function allowedBy ({ ALLOW_INSECURE: allowed }: Given, risk: Risk): boolean {
  return itemsOf(allowed).includes(risk)
}

/** A secret, and the setting that it is from. */
interface UsedSecret extends NamedSecret {
  readonly setting: string
}

function secretRisks (
  {
    API_KEY_PEPPERS,
    PAY_KEY_SECRETS,
    OAUTH_BROKER_SECRETS,
    OAUTH_BROKER_ASSERTION_KEYS,
    OAUTH_BROKER_ASSERTION_CLIENTS,
    METRICS_TOKEN
  }: Given
): ReadonlyArray<readonly [Risk, string]> {
  const secrets: readonly UsedSecret[] = [
    ...Object.entries({
      API_KEY_PEPPERS,
      PAY_KEY_SECRETS,
      OAUTH_BROKER_SECRETS,
      OAUTH_BROKER_ASSERTION_KEYS,
      OAUTH_BROKER_ASSERTION_CLIENTS
    }).flatMap(([setting, value]) => itemsOf(value).map((text) => ({ setting, ...secretFromText(text) }))),
    ...itemsOf(METRICS_TOKEN).map((secret) => ({ setting: 'METRICS_TOKEN', id: '', secret }))
  ]
  const settings = [...new Set(secrets.map(({ setting }) => setting))]
  const weak = settings.flatMap((setting) => {
    const found = secrets.filter((secret) => secret.setting === setting && isWeak(secret))
    return found.length === 0
      ? []
      : [
        `${setting} has secrets from an example or the demo, or guessable ones${idsOf(found)}. Generate each ` +
        'with openssl rand -base64 32'
      ]
  })
  const shared = secrets.filter(({ setting, secret }) =>
    secrets.some((other) => other.setting !== setting && other.secret === secret)
  )
  return [
    ...weak.map((what) => ['weak-secrets', what] as const),
    ...(shared.length === 0
      ? []
      : [
        [
          'shared-secrets',
          `${[...new Set(shared.map(({ setting }) => setting))].join(' and ')} share a secret: a leak of one ` +
          'exposes the other. Generate one for each with openssl rand -base64 32'
        ] as const
      ])
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
  return id === DEMO || EXAMPLE.test(secret) || new Set(secret).size <= Math.min(FEW, secret.length / 3)
}
