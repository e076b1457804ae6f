import { missing, ok, refusal, type StandInAnswer, type StandInObject } from './answer.ts'
import { textIn, type Form } from './form.ts'

/** What a list is made of. */
export interface Listed {
  /** `customer`: what an unknown cursor is said to be no id of. */
  readonly kind: string
  /** Path of the list. */
  readonly url: string
  /** In the order of creation; tombstones are cursors, too, as a client may delete what it lists. */
  readonly objects: ReadonlyMap<string, StandInObject>
  /** Parameters that a listed object has the value of. */
  readonly filters?: readonly string[]
}

/** A page of a list, the newest first: after `starting_after`, or right before `ending_before`. */
export function listAnswer ({ kind, url, objects, filters = [] }: Listed, form: Form): StandInAnswer {
  const param = form.ending_before === undefined ? 'starting_after' : 'ending_before'
  const cursor = textIn(form, param)
  if (cursor !== undefined && !objects.has(cursor)) return missing(kind, cursor, param)

  const newestFirst = [...objects.values()].reverse()
  const at = newestFirst.findIndex(({ id }) => id === cursor)
  const backwards = param === 'ending_before'
  const wanted = (backwards ? newestFirst.slice(0, at) : newestFirst.slice(at + 1)).filter(object =>
    object.deleted !== true && isWithin(form, object) && filters.every(name => form[name] === undefined || object[name] === form[name]))
  const limit = limitIn(form)
  return ok({ object: 'list', url, has_more: wanted.length > limit, data: backwards ? wanted.slice(-limit) : wanted.slice(0, limit) })
}

/** Whether an object was created in the wanted time: `created`, or its `gt`, `gte`, `lt` and `lte`, in seconds. */
function isWithin ({ created }: Form, object: StandInObject): boolean {
  const at = Number(object.created)
  if (typeof created !== 'object') return created === undefined || at === Number(created)
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = created
  return at > Number(gt) && at >= Number(gte) && at < Number(lt) && at <= Number(lte)
}

/** What a search looks through. */
export interface Searched {
  /** Of the path: `customers`. */
  readonly resource: string
  /** What the search shows at the moment, in the order of creation. */
  readonly objects: readonly StandInObject[]
  /** The fields that can be searched, beside metadata. */
  readonly fields: readonly string[]
}

/** A page of a search, the oldest first: the provider promises no order. Of the query language: one clause with `:`. */
export function searchAnswer ({ resource, objects, fields }: Searched, form: Form): StandInAnswer {
  const match = /^(?:metadata\[(['"])([^'"]+)\1\]|(\w+)):(?:(['"])((?:\\.|(?!\4)[^\\])*)\4|(\d+))$/.exec(textIn(form, 'query') ?? '')
  if (!match) return refusal(400, 'We were unable to parse your search query.', { param: 'query' })
  const [, , key, field = '', , text, number = ''] = match
  if (key === undefined && !fields.includes(field)) {
    return refusal(400, `Field \`${field}\` is an unsupported search field for resource \`${resource}\`.`, { param: 'query' })
  }
  const wanted = text?.replace(/\\(.)/g, '$1') ?? number
  const valueOf = (object: StandInObject): unknown => key === undefined ? object[field] : (object.metadata as Record<string, unknown> | undefined)?.[key]
  const found = objects.filter(object => object.deleted !== true && String(valueOf(object) ?? '') === wanted)

  const page = textIn(form, 'page')
  const at = page === undefined ? -1 : found.findIndex(({ id }) => pageAfter(id) === page)
  if (page !== undefined && at === -1) return refusal(400, 'Invalid page token.', { param: 'page' })
  const rest = found.slice(at + 1)
  const data = rest.slice(0, limitIn(form))
  const last = data.length < rest.length ? data.at(-1) : undefined
  const isCounted = Object.values(form.expand ?? {}).includes('total_count')
  return ok({
    object: 'search_result',
    url: `/v1/${resource}/search`,
    has_more: last !== undefined,
    next_page: last === undefined ? null : pageAfter(last.id),
    data,
    ...(isCounted && { total_count: found.length })
  })
}

/** Clients must not see through it. */
function pageAfter (id: string): string {
  return Buffer.from(id).toString('base64url')
}

function limitIn (form: Form): number {
  return Number(textIn(form, 'limit') ?? 10)
}
