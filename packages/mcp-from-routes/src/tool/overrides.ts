import { validateHeaderName, validateHeaderValue } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { attempt } from '../attempt.ts'
import { isTooDeep } from '../depth.ts'
import { MCP_FROM_ROUTES_INVALID_CONFIG } from '../errors.ts'
import type { FlatObject } from '../schema/flatten.ts'
import { isObject, type JsonSchema } from '../schema/json-schema.ts'
import { MIRRORED } from '../schema/dialect.ts'
import { TOKEN } from './mirrored.ts'

/** Where an argument goes in the inner request. */
export type Place = 'path' | 'query' | 'body' | 'header'

/** What the route takes in one place, and what fills it. */
export interface Input {
  readonly place: Place
  /** Its name in the route; of a header, in lower case. */
  readonly name: string
  /** The argument that fills it; absent when its value is fixed. */
  readonly argument?: string
  /** What `config.mcp.arguments` says of it. */
  readonly description?: string
  readonly value?: unknown
}

/** Renames or describes one input of the route, or fixes its value. */
export type ArgumentOverride =
  /** The argument that fills it. Two inputs of the same name become one argument. */
  | { readonly name: string, readonly description?: string, readonly header?: string }
  /** What models read of it, in place of the route's words, which may be about URLs. */
  | { readonly name?: undefined, readonly description: string, readonly header?: string }
  /**
   * The header `Mcp-Param-…` in which clients of revision 2026-07-28 repeat it, so that proxies can route and limit by
   * it.
   */
  | { readonly name?: undefined, readonly description?: undefined, readonly header: string }
  /** The value that every call sends. The input is then not an argument. */
  | { readonly value: unknown }

/** Makes a request header an argument, or fixes its value. A header is no argument by itself. */
export type HeaderOverride =
  /**
   * The argument that fills it. The header must be a property of the route's `schema.headers`, which describes it, and
   * neither a credential nor one that the server, a proxy or a browser writes.
   */
  | { readonly name: string, readonly description?: string }
  /** The value that every call sends. */
  | { readonly value: string }

/** Overrides of the inputs of a route, by the part of the request and their name in it. */
export interface ArgumentOverrides {
  readonly params?: Readonly<Record<string, ArgumentOverride>>
  readonly querystring?: Readonly<Record<string, ArgumentOverride>>
  readonly body?: Readonly<Record<string, ArgumentOverride>>
  /** By names in any case. */
  readonly headers?: Readonly<Record<string, HeaderOverride>>
}

type HeaderArgument = Extract<HeaderOverride, { readonly name: string }>

/** The part of a request that each place is. */
export const PARTS = { path: 'params', query: 'querystring', body: 'body', header: 'headers' } as const

/**
 * The names that every client takes.
 * @see [Anthropic: tool definitions](https://docs.anthropic.com/en/api/messages)
 */
export const ARGUMENT = /^[A-Za-z0-9_.-]{1,64}$/
const ALL_PARTS: readonly string[] = ['params', 'querystring', 'body', 'headers']
const OF_AN_INPUT = 'a name, a description, a header or several of them'
const OF_A_HEADER = 'a name, with or without a description'
const IN_SCHEMA = ". Describe it in schema.headers, as in { type: 'string', maxLength: 255 }"

/** The `config.mcp.arguments` of a route, checked. */
export class Overrides {
  readonly #route: string
  readonly #given: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** The headers that are arguments, by their names in lower case. */
  readonly headers: Readonly<Record<string, HeaderArgument>>

  /**
   * @param route - the route as named in errors
   * @throws {@link MCP_FROM_ROUTES_INVALID_CONFIG}
   */
  constructor (route: string, given: ArgumentOverrides | undefined) {
    this.#route = route
    this.#given = (given ?? {}) as Readonly<Record<string, Readonly<Record<string, unknown>>>>
    this.#check(isObject(this.#given), 'must be an object')
    for (const [part, inputs] of Object.entries(this.#given)) {
      this.#check(ALL_PARTS.includes(part), `.${part} is not a part of the request. Use ${ALL_PARTS.join(', ')}`)
      this.#check(isObject(inputs), `.${part} must be an object`)
      for (const [name, override] of Object.entries(inputs)) {
        const keys = isObject(override) ? Object.keys(override) : []
        const isFixed = keys.length === 1 && keys[0] === 'value'
        const isNamed = part === 'headers'
          ? keys.includes('name') && keys.every((key) => key === 'name' || key === 'description')
          : keys.length > 0 && keys.every((key) => key === 'name' || key === 'description' || key === 'header')
        this.#check(
          isFixed || isNamed,
          `.${part}.${name} must have ${part === 'headers' ? OF_A_HEADER : OF_AN_INPUT}, or else a value`
        )
        const { name: argument = name, description = 'x', header = 'x', value = '' } = override as {
          name?: unknown,
          description?: unknown,
          header?: unknown,
          value?: unknown
        }
        this.#check(
          typeof argument === 'string' && (!keys.includes('name') || ARGUMENT.test(argument)),
          `.${part}.${name}.name must be 1 to 64 letters, digits, _, . or -`
        )
        this.#check(
          typeof description === 'string' && description !== '',
          `.${part}.${name}.description must be a non-empty string`
        )
        this.#check(
          typeof header === 'string' && TOKEN.test(header),
          `.${part}.${name}.header must be the name of a header, without Mcp-Param-`
        )
        this.#check(
          !isFixed || part !== 'body' || isJson(value),
          `.${part}.${name}.value must be JSON: no bigint, function, date, infinite number or circle`
        )
        this.#check(
          part === 'body' || ['string', 'number', 'boolean'].includes(typeof value),
          `.${part}.${name}.value must be a string, a number or a boolean`
        )
      }
    }
    const headers = Object.entries(this.#given.headers ?? {})
    const twice = headers.find(([name], index) =>
      headers.some(([other], before) => before < index && other.toLowerCase() === name.toLowerCase())
    )
    this.#check(twice === undefined, `.headers has ${twice?.[0].toLowerCase()} twice. Case does not count in a header`)
    this.headers = Object.fromEntries(
      (headers as ReadonlyArray<readonly [string, HeaderArgument]>).flatMap(([name, override]) =>
        'name' in override ? [[name.toLowerCase(), override]] : []
      )
    )
  }

  /**
   * The inputs of one part of the request under the names of their arguments, without those of a fixed value.
   * @returns also every input, and the arguments whose name was chosen
   */
  apply (place: Place, flat: FlatObject): { flat: FlatObject, inputs: readonly Input[], chosen: ReadonlySet<string> } {
    const part = PARTS[place]
    const given: Readonly<Record<string, ArgumentOverride>> = place === 'header'
      ? this.headers
      : (this.#given[part] ?? {}) as Readonly<Record<string, ArgumentOverride>>
    const missing = Object.keys(given).find((name) => !Object.hasOwn(flat.properties, name))
    this.#check(
      missing === undefined,
      `.${part}.${missing} is not an input of the route${place === 'header' ? IN_SCHEMA : ''}`
    )
    const inputs = Object.keys(flat.properties).map((name): Input => {
      const override = Object.hasOwn(given, name) ? given[name] as ArgumentOverride : { name }
      if ('value' in override) return { place, name, value: override.value }
      const { description } = override
      return { place, name, argument: override.name ?? name, ...description !== undefined && { description } }
    })
    const taken = inputs.flatMap(({ argument }) => argument ?? [])
    this.#check(new Set(taken).size === taken.length, `.${part} gives two inputs the same name`)
    const names = new Map(inputs.map(({ name, argument }) => [name, argument]))
    /** Those that are arguments, under their names there; unlisted ones stay as they are. */
    const renamed = (list: readonly string[]): string[] =>
      list.flatMap((name) => names.has(name) ? names.get(name) ?? [] : name)
    const fixed = inputs.filter(({ argument }) => argument === undefined).map(({ name }) => name)
    const described = (name: string): JsonSchema => {
      const override = Object.hasOwn(given, name) ? given[name] : undefined
      return {
        ...flat.properties[name],
        ...override !== undefined && 'description' in override && { description: override.description },
        ...override !== undefined && 'header' in override && { [MIRRORED]: override.header }
      }
    }
    const dependents = Object.entries(flat.dependentRequired)
    return {
      inputs,
      // One that is only described may still clash with another.
      chosen: new Set(renamed(Object.keys(given).filter((name) => 'name' in given[name]!))),
      flat: {
        properties: Object.fromEntries(
          inputs.flatMap(({ name, argument }) => argument === undefined ? [] : [[argument, described(name)]])
        ),
        required: renamed([
          ...flat.required,
          ...dependents.flatMap(([name, others]) => fixed.includes(name) ? others : [])
        ]),
        dependentRequired: Object.fromEntries(
          dependents.flatMap(([name, others]) => renamed([name]).map((argument) => [argument, renamed(others)]))
        ),
        minProperties: Math.max(0, flat.minProperties - fixed.length)
      }
    }
  }

  /**
   * The headers that every call sends, by their names in lower case.
   * @param isAllowed - whether the plugin leaves a header to the host
   */
  fixedHeaders (isAllowed: (name: string) => boolean): Readonly<Record<string, string>> {
    const headers: Record<string, string> = {}
    for (const [name, override] of Object.entries(this.#given.headers ?? {})) {
      if (Object.hasOwn(this.headers, name.toLowerCase())) continue
      const value = String((override as { value: unknown }).value)
      this.#check(isHeader(name, value), `.headers.${name} is not a header that can be sent`)
      this.#check(isAllowed(name.toLowerCase()), `.headers.${name} is set by the server, or is one of forwardHeaders`)
      headers[name.toLowerCase()] = value
    }
    return headers
  }

  /**
   * Checks that callers may choose the headers that are arguments.
   * @param reasonAgainst - what keeps a header, by its name in lower case, from being an argument, and the cure
   */
  checkHeaders (reasonAgainst: (name: string) => string | undefined): void {
    for (const [name, { name: argument }] of Object.entries(this.headers)) {
      const reason = reasonAgainst(name)
      this.#check(reason === undefined, `.headers.${name} cannot be the argument ${argument}: ${reason}`)
    }
  }

  #check (holds: boolean, problem: string): void {
    if (!holds) {
      throw new MCP_FROM_ROUTES_INVALID_CONFIG(this.#route, `arguments${problem.startsWith('.') ? '' : ' '}${problem}`)
    }
  }
}

/** Whether a value is what its JSON says. */
function isJson (value: unknown): boolean {
  return !isTooDeep(value) && attempt(() => isDeepStrictEqual(JSON.parse(JSON.stringify(value)), value)) === true
}

function isHeader (name: string, value: string): boolean {
  return attempt(() => {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  }) ?? false
}
