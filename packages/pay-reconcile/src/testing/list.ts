import { missing, ok, refusal, stringIn, type StandInResponse, type StandInObject, type Form } from './response.ts'

/** What a list shows. */
export interface ListSource {
  /** For the error about an unknown cursor: `customer`. */
  readonly kind: string
  /** Path of the list. */
  readonly url: string
  /** In the order of creation, with tombstones: they are valid cursors, because a client may delete what it lists. */
  readonly objects: ReadonlyMap<string, StandInObject>
  /** Parameters that must equal the object's field. */
  readonly filters?: readonly string[]
}

/** A page of a list, newest first: after `starting_after`, or directly before `ending_before`. */
export function listResponse ({ kind, url, objects, filters = [] }: ListSource, form: Form): StandInResponse {
  const param = form.ending_before === undefined ? 'starting_after' : 'ending_before'
  const cursor = stringIn(form, param)
  if (cursor !== undefined && !objects.has(cursor)) return missing(kind, cursor, param)

  const newestFirst = [...objects.values()].reverse()
  const at = newestFirst.findIndex(({ id }) => id === cursor)
  const backwards = param === 'ending_before'
  const wanted = (backwards ? newestFirst.slice(0, at) : newestFirst.slice(at + 1)).filter((object) =>
    object.deleted !== true && isWithin(form, object) &&
    filters.every((name) => form[name] === undefined || object[name] === form[name])
  )
  const limit = limitIn(form)
  return ok({
    object: 'list',
    url,
    has_more: wanted.length > limit,
    data: backwards ? wanted.slice(-limit) : wanted.slice(0, limit)
  })
}

/** Whether an object was created at `created`, or between its `gt`, `gte`, `lt` and `lte`, in seconds. */
function isWithin ({ created }: Form, object: StandInObject): boolean {
  const at = Number(object.created)
  if (typeof created !== 'object') return created === undefined || at === Number(created)
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = created
  return at > Number(gt) && at >= Number(gte) && at < Number(lt) && at <= Number(lte)
}

/** What a search searches. */
export interface SearchSource {
  /** As in the path: `customers`. */
  readonly resource: string
  /** What the search shows now, in the order of creation. */
  readonly objects: readonly StandInObject[]
  /** The searchable fields besides metadata. */
  readonly fields: readonly string[]
}

/** A part of a search: a key of metadata or a field, and its value. */
interface Clause {
  readonly key: string | undefined
  readonly field: string
  readonly wanted: string
}

/** @returns undefined for a query that is not understood */
function clausesIn (query: string): readonly Clause[] | undefined {
  const pattern = /(?:metadata\[(['"])([^'"]+)\1\]|(\w+)):(?:(['"])((?:\\.|(?!\4)[^\\])*)\4|(\d+))(?: AND (?=.)|$)/y
  const clauses: Clause[] = []
  do {
    const match = pattern.exec(query)
    if (!match) return undefined
    const [, , key, field = '', , text, number = ''] = match
    clauses.push({ key, field, wanted: text?.replace(/\\(.)/g, '$1') ?? number })
  } while (pattern.lastIndex < query.length)
  return clauses
}

/** A page of a search, oldest first (the provider promises no order). Understands clauses with `:`, joined by AND. */
export function searchResponse ({ resource, objects, fields }: SearchSource, form: Form): StandInResponse {
  const clauses = clausesIn(stringIn(form, 'query') ?? '')
  if (!clauses) return refusal(400, 'We were unable to parse your search query.', { param: 'query' })
  const unknown = clauses.find(({ key, field }) => key === undefined && !fields.includes(field))
  if (unknown) {
    return refusal(400, `Field \`${unknown.field}\` is an unsupported search field for resource \`${resource}\`.`, {
      param: 'query'
    })
  }
  const valueOf = (object: StandInObject, { key, field }: Clause): unknown =>
    key === undefined ? object[field] : (object.metadata as Record<string, unknown> | undefined)?.[key]
  const found = objects.filter((object) =>
    object.deleted !== true &&
    clauses.every((clause) => String(valueOf(object, clause) ?? '') === clause.wanted)
  )

  const page = stringIn(form, 'page')
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

/** An opaque page token. */
function pageAfter (id: string): string {
  return Buffer.from(id).toString('base64url')
}

function limitIn (form: Form): number {
  return Number(stringIn(form, 'limit') ?? 10)
}
