import { attempt } from '../../attempt.ts'

/**
 * One segment of a resource's URI: what it begins and ends with, and the variable between; without one, `before` is all
 * of it.
 */
interface Segment {
  readonly before: string
  readonly variable?: string
  readonly after: string
}

/** A resource's URI between its slashes, as RFC 6570 writes it at level 1. */
export interface UriTemplate {
  readonly segments: readonly Segment[]
  /** Empty for the URI of one resource. */
  readonly variables: readonly string[]
}

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\/[^/]/
const PLAIN = /^[A-Za-z0-9._~!$&'()*+,;=:@%-]*$/
const VARIABLE = /^([^{}]*)\{([A-Za-z0-9_]+)\}([^{}]*)$/
/** What would make one segment of a path into several, or into another folder, in whatever the route does with it. */
const SEPARATOR = /[/\\\p{Cc}]|^\.\.?$/u

/**
 * Reads the URI of a resource, or the template of many.
 * @returns a sentence that says what is wrong with it
 * @see [RFC 6570](https://www.rfc-editor.org/rfc/rfc6570#section-1.2), level 1
 */
export function templateFrom (uri: string): UriTemplate | string {
  if (!SCHEME.test(uri)) {
    return 'must begin with a scheme in small letters and two slashes, such as shop://policies/{id}'
  }
  const segments: Segment[] = []
  for (const text of uri.split('/')) {
    const [, before, variable, after] = VARIABLE.exec(text) ?? [undefined, text, undefined, '']
    if (before === undefined || after === undefined || !PLAIN.test(before) || !PLAIN.test(after)) {
      return `has the segment ${
        JSON.stringify(text)
      }, which must be plain text with at most one {variable}: no query, ` +
        'no fragment, no operator'
    }
    if (text === '.' || text === '..') return 'must not have . or .. for a segment: clients remove them'
    segments.push({ before, after, ...variable !== undefined && { variable } })
  }
  const variables = segments.flatMap(({ variable }) => variable ?? [])
  if (new Set(variables).size < variables.length) return 'has the same variable twice'
  return { segments, variables }
}

/**
 * The values of the variables in a URI.
 * @returns undefined if the template does not make that URI, or only with a value that is more than a segment
 */
export function valuesFromUri ({ segments }: UriTemplate, uri: string): Readonly<Record<string, string>> | undefined {
  const parts = uri.split('/')
  if (parts.length !== segments.length) return undefined
  const values: Record<string, string> = {}
  for (const [index, { before, variable, after }] of segments.entries()) {
    const part = parts[index] as string
    if (variable === undefined) {
      if (part !== before) return undefined
      continue
    }
    if (part.length <= before.length + after.length || !part.startsWith(before) || !part.endsWith(after)) {
      return undefined
    }
    const text = part.slice(before.length, part.length - after.length)
    // A query or a fragment is none of the value: `?` and `#` have to be encoded.
    const value = /[?#]/.test(text) ? undefined : attempt(() => decodeURIComponent(text))
    if (value === undefined || SEPARATOR.test(value)) return undefined
    values[variable] = value
  }
  return values
}

/** Whether two templates may make the same URI. */
export function overlap (a: UriTemplate, b: UriTemplate): boolean {
  return a.segments.length === b.segments.length &&
    a.segments.every((one, index) => mayEqual(one, b.segments[index] as Segment))
}

function mayEqual (a: Segment, b: Segment): boolean {
  if (a.variable === undefined && b.variable === undefined) return a.before === b.before
  const isStart = a.before.startsWith(b.before) || b.before.startsWith(a.before)
  if (!isStart) return false
  if (a.variable === undefined) return a.before.endsWith(b.after)
  if (b.variable === undefined) return b.before.endsWith(a.after)
  return a.after.endsWith(b.after) || b.after.endsWith(a.after)
}
