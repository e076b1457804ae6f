import t from 'tap'
import { bodySchemaOf, callOf, openFurnished, pathTo } from './furnished.ts'

/*
 * Every integer that a route takes, in its query, filter and body, with what no column, or no number of JavaScript, can
 * hold. The routes and their integers come from the app.
 */

interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}

const VALUES = ['2147483648', '-2147483649', '9007199254740992', '1e300']

const { people: [boss], requests, furnish, prepare, send, settled } = await openFurnished(t, ['boss'])
const { headers } = boss!
const isInteger = ({ type }: Schema): boolean => [type].flat().includes('integer')
const integersOf = ({ properties = {} }: Schema = {}): readonly string[] =>
  Object.entries(properties).filter(([, schema]) => isInteger(schema.items ?? schema)).map(([name]) => name)

/** The places of integers in a body: `items/0/price_amount`. */
function placesIn (schema: Schema, body: unknown, path: readonly string[] = []): ReadonlyArray<readonly string[]> {
  if (isInteger(schema)) return [path]
  if (Array.isArray(body)) {
    return body.length === 0 || schema.items === undefined
      ? []
      : placesIn(schema.items, body[0], [...path, '0'])
  }
  if (typeof body !== 'object' || body === null) return []
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    placesIn(property, (body as Record<string, unknown>)[name], [...path, name])
  )
}

/** JSON with a numeral at a place, as it is written. */
function jsonWith (body: object, path: readonly string[], numeral: string): string {
  const copy = structuredClone(body) as Record<string, any>
  const parent = path.slice(0, -1).reduce((value, name) => value[name], copy)
  parent[path.at(-1)!] = 'NUMERAL'
  return JSON.stringify(copy).replace('"NUMERAL"', numeral)
}

let [queries, bodies] = [0, 0]

for (const { route, method, name } of requests.filter(({ method }) => method !== 'HEAD')) {
  const schema = route.schema as
    | { readonly querystring?: Schema, readonly response?: Readonly<Record<string, Schema>> }
    | undefined
  const { querystring } = schema ?? {}
  const answer = schema?.response?.['200']
  const records = answer?.content?.['application/json']?.schema ?? answer
  const { filter } = querystring?.properties ?? {}
  // The lists of packages read their filters themselves.
  const filters = filter === undefined ? [] : [...new Set([...integersOf(filter), ...integersOf(records?.items)])]
  const body = bodySchemaOf(route) as Schema | undefined
  if (integersOf(querystring).length + filters.length === 0 && body === undefined) continue

  t.test(`${name} takes no number for more than it can hold`, async (t) => {
    const shop = await furnish()
    const path = pathTo(route, shop)
    if (path === undefined) return t.comment('it is not of a shop')
    const url = (query: string): string => `${path}${path.includes('?') ? '&' : '?'}${query}`
    if (method === 'GET') {
      for (const value of VALUES) {
        const asked = [
          ...integersOf(querystring).map((name) => `${name}=${value}`),
          ...filters.map((name) => `filter=${encodeURIComponent(`{"${name}":${value}}`)}`)
        ]
        for (const query of asked) {
          const { statusCode, body } = await send('GET', url(query), headers)
          queries++
          t.ok(statusCode < 500, `${query}: ${statusCode} ${body.slice(0, 200)}`)
        }
      }
    }
    if (body === undefined) return
    await prepare(name, shop)
    const { body: sample } = callOf(route, shop)
    for (const place of placesIn(body, sample)) {
      for (const value of VALUES) {
        const { statusCode, body } = await send(
          method,
          path,
          { ...headers, 'content-type': 'application/json' },
          jsonWith(sample!, place, value) as unknown as object
        )
        bodies++
        t.ok(statusCode < 500, `${place.join('/')}: ${value}: ${statusCode} ${body.slice(0, 200)}`)
      }
    }
    await settled()
  })
}

t.test('there were integers to try', async (t) => {
  t.ok(queries > 200 && bodies > 20, `${queries} in queries, ${bodies} in bodies`)
})
