import pg from 'pg'
import { ambiguousIds } from './secrets.ts'
import { trustedProxies } from './trusted-proxies.ts'

/** @returns what is wrong with the text of a setting, or undefined */
type Check = (text: string) => string | undefined

const MARKER = /^(?!ey)[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/
const MARKER_LENGTH = 16

/** The end of an origin of `CORS_ORIGINS` that stands for all ports of its host. */
export const ANY_PORT = ':*'

/** What a pattern cannot say, and the libraries behind the settings would, later and by names of their own. */
const checks: Readonly<Record<string, Check>> = {
  PUBLIC_BASE_URL: baseUrl,
  IDP_ISSUER: (text) => {
    if (!isTrustworthy(text)) return 'must be an https URL, or http on localhost, 127.0.0.1 or [::1]: over anything else its keys could be anybody\'s'
    return /[?#]/.test(text) ? 'must have no query and no fragment' : undefined
  },
  IDP_MCP_CLIENT_ID: (text) => /^[\x21-\x7e]*$/.test(text) ? undefined : 'must be printable ASCII without spaces',
  API_KEY_MARKER: (text) => MARKER.test(text) && text.length <= MARKER_LENGTH
    ? undefined
    : `must be lower-case words joined by _, at most ${MARKER_LENGTH} characters, and must not start as tokens do (ey)`,
  API_KEY_PEPPERS: namedSecrets,
  PAY_KEY_SECRETS: namedSecrets,
  PAY_API_URL: baseUrl,
  DATABASE_URL: (text) => {
    const complaint = complaintOf(() => new pg.Client({ connectionString: text }))
    return complaint && `is no URL that the driver can read (${complaint}): what is special in URLs, as / in a password, must be percent-encoded; or leave the password out, and put it into PGPASSWORD`
  },
  REDIS_URL: (text) => URL.canParse(text) ? undefined : 'is no URL: what is special in URLs, as / in a password, must be percent-encoded',
  TRUST_PROXY: (text) => {
    const complaint = complaintOf(() => trustedProxies(text))
    return complaint && `must be how many proxies stand in front, or their addresses or networks: ${complaint}`
  },
  CORS_ORIGINS: (text) => {
    const wrong = itemsOf(text).filter((item) => !isOrigin(item) && !(item.endsWith(ANY_PORT) && isLoopback(item.slice(0, -ANY_PORT.length))))
    return wrong.length === 0
      ? undefined
      : `must be origins as browsers send them, in lower case and without a default port, or a loopback host with every port, as http://localhost:*; not ${wrong.join(', ')}`
  }
}

/**
 * What is wrong with settings whose form is right, each mistake with the name of its setting and without its secret.
 *
 * @param given - the settings as texts, or as what texts become; those that are missing are no mistake here
 */
export function mistakesIn (given: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(checks).flatMap(([name, check]) => {
    const mistake = given[name] === undefined ? undefined : check(String(given[name]))
    return mistake === undefined ? [] : [`${name} ${mistake}`]
  })
}

/** `a, b,` is a list of two. A list goes for its text. */
export function itemsOf (value: unknown): readonly string[] {
  return String(value ?? '').split(',').map((item) => item.trim()).filter((item) => item !== '')
}

/** Whether what comes from the URL is what its host sent: https, or http on this machine. */
export function isTrustworthy (url: string): boolean {
  return URL.canParse(url) && (new URL(url).protocol === 'https:' || isLoopback(url))
}

function isLoopback (url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

function isOrigin (text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text
}

function baseUrl (text: string): string | undefined {
  if (!URL.canParse(text)) return 'is no URL'
  const { href, origin } = new URL(text)
  return href === `${origin}/` ? undefined : 'must be an origin: without path, query, fragment and user'
}

function namedSecrets (text: string): string | undefined {
  const ids = ambiguousIds(itemsOf(text))
  return ids.length === 0 ? undefined : `has more than one secret with the id ${ids.join(', ')}: each needs an id of its own`
}

/** @returns what it throws says, or undefined */
function complaintOf (read: () => unknown): string | undefined {
  try {
    read()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
