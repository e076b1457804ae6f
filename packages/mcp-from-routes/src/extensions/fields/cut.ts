import { attempt } from '../../attempt.ts'
import { FIELDS_ARGUMENT, type FieldsRule } from './rule.ts'
import { excerpt } from '../../call/excerpt.ts'
import type { Refusal } from '../../call/request.ts'
import { jsonOf, mediaType } from '../../call/result.ts'
import type { Tool } from '../../model.ts'
import { isAsPromised, isDeclared } from '../../tool/output.ts'
import type { InnerResponse } from '../../types.ts'

/** The properties that a record keeps: all of one, or some of what it contains. */
type Kept = ReadonlyMap<string, true | ReadonlyMap<string, true>>

/** What a call leaves of its result. */
export interface Selection extends Pick<FieldsRule, 'list'> {
  readonly kept: Kept
}

/** How many unknown fields an error names. */
const MAX_NAMES = 10

/**
 * Reads the argument `fields` of a call.
 * @param tool - the name of the tool
 * @returns undefined where all fields are wanted: clients that have to fill in every argument send null or an empty
 *   array
 */
export function selectionFrom (
  tool: string,
  { paths, list }: FieldsRule,
  given: unknown
): Selection | Refusal | undefined {
  // Some models send an array as its JSON.
  const value: unknown = typeof given === 'string' ? attempt(() => JSON.parse(given) as unknown) ?? given : given
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return undefined
  if (!Array.isArray(value) || !value.every((name) => typeof name === 'string')) {
    return {
      refusal: `${FIELDS_ARGUMENT} must be an array of names, such as ${JSON.stringify([...paths.keys()].slice(0, 2))}`
    }
  }
  const kept = new Map<string, true | Map<string, true>>()
  const unknown = new Set<string>()
  for (const field of value) {
    const path = paths.get(field)
    if (path === undefined) {
      unknown.add(field)
      continue
    }
    const [name, inner] = path
    const others = kept.get(name)
    if (inner === undefined) kept.set(name, true)
    else if (others === undefined) kept.set(name, new Map([[inner, true]]))
    else if (others !== true) others.set(inner, true)
  }
  if (unknown.size === 0) return { list, kept }
  const names = [
    ...[...unknown].slice(0, MAX_NAMES).map((name) => JSON.stringify(excerpt(name))),
    ...unknown.size > MAX_NAMES ? ['…'] : []
  ].join(', ')
  return {
    refusal: `Unknown field${unknown.size > 1 ? 's' : ''} ${names}. The ${FIELDS_ARGUMENT} of ${tool} are ` +
      `${[...paths.keys()].join(', ')}`
  }
}

/** A response with the fields that were asked for: what is over the limit as a whole may be within it then. */
export function cut (tool: Tool, response: InnerResponse, chosen: Selection): InnerResponse {
  const { statusCode } = response
  if (statusCode < 200 || statusCode >= 300 || response.cut === true) return response
  if (tool.output !== undefined && !isDeclared(tool.output, statusCode, mediaType(response))) return response
  const whole = jsonOf(response)
  // What is not as promised is an error, which shows all of it.
  if (whole === undefined || (tool.output !== undefined && !isAsPromised(tool.output, whole.value))) return response
  return { ...response, body: selected(whole.text, chosen) }
}

/**
 * The JSON of a result without the fields that were not asked for. What stays is copied as the route wrote it, so
 * numbers keep their digits. A response of another form than its schema says stays whole.
 * @param text - well-formed JSON
 */
export function selected (text: string, { list, kept }: Selection): string {
  const start = skipSpace(text, 0)
  if (text[start] !== (list === true ? '[' : '{')) return text
  if (typeof list !== 'string') return recordsAt(text, start, kept)
  const members = membersOf(text, start).map(([name, key, value]) =>
    `${key}:${name === list ? recordsAt(text, value[0], kept) : text.slice(...value)}`
  )
  return `{${members.join()}}`
}

type Slice = readonly [start: number, end: number]

/** A record, or an array of them. */
function recordsAt (text: string, start: number, kept: Kept): string {
  return text[start] === '['
    ? `[${itemsOf(text, start).map(([item]) => recordAt(text, item, kept)).join()}]`
    : recordAt(text, start, kept)
}

function recordAt (text: string, start: number, kept: Kept): string {
  if (text[start] !== '{') return text.slice(start, endOfValue(text, start))
  const members: string[] = []
  for (const [name, key, value] of membersOf(text, start)) {
    const some = kept.get(name)
    if (some !== undefined) {
      members.push(`${key}:${some === true ? text.slice(...value) : recordsAt(text, value[0], some)}`)
    }
  }
  return `{${members.join()}}`
}

/** The members of an object: name, key as written, value. */
function membersOf (text: string, start: number): Array<readonly [name: string, key: string, value: Slice]> {
  const members: Array<readonly [string, string, Slice]> = []
  for (let at = skipSpace(text, start + 1); text[at] !== '}'; at = afterComma(text, at)) {
    const end = endOfString(text, at)
    const key = text.slice(at, end)
    const value = skipSpace(text, skipSpace(text, end) + 1)
    at = endOfValue(text, value)
    members.push([key.includes('\\') ? JSON.parse(key) as string : key.slice(1, -1), key, [value, at]])
  }
  return members
}

function itemsOf (text: string, start: number): Slice[] {
  const items: Slice[] = []
  for (let at = skipSpace(text, start + 1); text[at] !== ']'; at = afterComma(text, at)) {
    const end = endOfValue(text, at)
    items.push([at, end])
    at = end
  }
  return items
}

/** The start of the next member, or the bracket that ends the object or array. */
function afterComma (text: string, end: number): number {
  const at = skipSpace(text, end)
  return text[at] === ',' ? skipSpace(text, at + 1) : at
}

function skipSpace (text: string, start: number): number {
  let at = start
  while (text.charCodeAt(at) <= 0x20) at++
  return at
}

function endOfString (text: string, start: number): number {
  for (let at = start + 1;; at++) {
    const quote = text.indexOf('"', at)
    let before = quote
    while (text[before - 1] === '\\') before--
    if ((quote - before) % 2 === 0) return quote + 1
    at = quote
  }
}

function endOfValue (text: string, start: number): number {
  let depth = 0
  for (let at = start;; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at) - 1
        break
      case 0x7b: // {
      case 0x5b: // [
        depth++
        break
      case 0x7d: // }
      case 0x5d: // ]
        depth--
        break
      default:
        if (depth > 0) continue
        // A number or a word.
        while (at + 1 < text.length && text.charCodeAt(at + 1) > 0x20 && !',]}'.includes(text.charAt(at + 1))) at++
    }
    if (depth === 0) return at + 1
  }
}
