import { CUT, excerpt } from '#shared/excerpt'

/** Replaces secrets. */
export const REDACTED = '[redacted]'

/** Fields of any object whose value is secret. */
const FIELDS = 'authorization|proxy-authorization|x-api-key|api[_-]?key|cookie|set-cookie' +
  '|[a-z_]*passw(?:or)?d|passphrase|plaintext|credentials?' +
  '|(?:[a-z_]*_)?(?:secret|secret_?key|private_?key|token)' +
  '|(?:access|auth|bearer|client|id|refresh)(?:secret|token)|code_verifier'
const FIELD = new RegExp(`^(?:${FIELDS})$`, 'i')

/** Whether the value of a field with this name is secret. */
export function isSecretField (name: string): boolean {
  return FIELD.test(name)
}

/** Parameters of any URL or form whose value is secret. */
const PARAMETERS = 'access_token|refresh_token|id_token|id_token_hint|token|code|code_verifier|client_secret' +
  '|api_?key|key|password|secret|signature'

/**
 * Secrets in a string, without quotes and backslashes, so that a log line stays valid JSON: fields of JSON in a
 * message, parameters of a URL or form, its password, what follows an authentication scheme, payment keys and JSON Web
 * Tokens. API keys, whose prefix is a setting, are added later. Patterns with a minimum length also match shorter rests
 * before a cut.
 *
 * Anyone can write the input, so each pattern has to be linear: once its beginning is found, it takes everything that
 * could be part of it, or gives up within a fixed number of characters.
 */
const TEXTS = [
  `((?<="(?:${FIELDS})\\\\{0,8}"\\s?:\\s?\\\\{0,8}")[^"\\\\]+)`,
  `((?<=\\b(?:${PARAMETERS})=)[^&\\s"'\\\\]+)`,
  `((?<=\\b(?:bearer|basic)\\s)${leastOf(8, '[\\w.~+/=-]')})`,
  `((?<=\\b[a-z][a-z0-9+.-]{0,20}://[^\\s/@:"\\\\]{0,100}:)[^\\s/@"\\\\]{1,200}(?=[@${CUT}]))`,
  '(\\b(?:[sr]k_(?:test|live)|whsec)_\\w+)',
  `(\\beyJ${leastOf(16, '[\\w.-]')})`
]

/** At least so many of some characters; fewer if the rest was cut off. */
function leastOf (count: number, characters: string): string {
  return `(?:${characters}{${count},}|${characters}{0,${count - 1}}${CUT})`
}

/** Maximum length of a string in a line, in characters. */
export const LONGEST = 500

/** Redacts secrets, and cuts long strings. Only in plain objects and lists; errors and requests have serializers. */
export function redactedFields (value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return depth === 0 ? REDACTED : value.map((item) => redactedFields(item, depth - 1))
  if (typeof value === 'string') return excerpt(value, LONGEST)
  if (typeof value !== 'object' || value === null) return value
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  if (depth === 0) return REDACTED
  return Object.fromEntries(
    Object.entries(value).map((
      [name, inner]
    ) => [name, isSecretField(name) ? REDACTED : redactedFields(inner, depth - 1)])
  )
}

/** @returns a function that redacts secrets in a log line; API keys start with `marker` */
export function redactor (marker: string): (line: string) => string {
  const secrets = secretPattern(marker)
  return (line) => line.replace(secrets, REDACTED)
}

/** Matches the secrets in a line. */
export function secretPattern (marker: string): RegExp {
  const key = `\\b${marker}_${leastOf(20, '[\\w-]')}`
  return new RegExp([...TEXTS, key].join('|'), 'gi')
}
