import { partsFromPath } from '../../tool/path.ts'

/** What a tool is named after. */
interface Named {
  readonly method: string
  readonly url: string
  readonly operationId: string | undefined
  /** The version that requests must ask for. */
  readonly version: string | undefined
}

const MOST = 64
const VERBS: Readonly<Record<string, string>> = { PUT: 'update', PATCH: 'update', DELETE: 'delete', QUERY: 'search' }

/**
 * A name for the tool of a route: its `operationId`, else a guess from method and path, as `get_user` for
 * `GET /users/:id`. The same routes always get the same names.
 *
 * @param taken - names that others have
 */
export function nameFor ({ method, url, operationId, version: constraint }: Named, taken: ReadonlySet<string>): string {
  const all = segmentsOf(url)
  const named = all.filter(({ text, params }) => params.length > 0 || !/^(api|rest|v\d[\d.]*)$/i.test(text))
  const path = named.length === 0 ? all : named
  const version = constraint === undefined
    ? all.find(({ text, params }) => params.length === 0 && /^v\d[\d.]*$/i.test(text))?.text
    : `v${constraint}`
  const param = path.flatMap(({ params }) => params).at(-1)
  const base = operationId === undefined ? guess(method, path) : fitted(operationId.replace(/[^A-Za-z0-9_-]+/g, '_'))
  const tries = [
    base,
    ...version === undefined ? [] : [withEnd(base, wordsOf(version))],
    ...param === undefined ? [] : [withEnd(base, `by_${wordsOf(param)}`)],
    withEnd(base, method.toLowerCase())
  ]
  for (let count = 2;; count++) {
    const free = tries.find((name) => !taken.has(name))
    if (free !== undefined) return free
    tries.splice(0, tries.length, withEnd(base, String(count)))
  }
}

interface Segment {
  text: string
  readonly params: string[]
}

/** The parts of a path between its slashes. */
function segmentsOf (url: string): readonly Segment[] {
  const segments: Segment[] = []
  const parts = partsFromPath(url.replaceAll('*', ''))
  for (const part of typeof parts === 'string' ? [] : parts) {
    if ('param' in part) {
      segments.at(-1)?.params.push(part.param)
      continue
    }
    const [first = '', ...more] = part.text.split('/')
    const last = segments.at(-1)
    if (last !== undefined) last.text += first
    segments.push(...more.map((text) => ({ text, params: [] })))
  }
  return segments.filter(({ text, params }) => text !== '' || params.length > 0)
}

function guess (method: string, path: readonly Segment[]): string {
  const words = path.map(({ text }) => wordsOf(text)).filter((word) => word !== '')
  const last = words.pop() ?? 'root'
  const parents = words.map(singular)
  const endsWithParam = (path.at(-1)?.params.length ?? 0) > 0
  const isOne = endsWithParam || singular(last) === last
  // A POST to a noun in the singular is mostly an action: /orders/:id/refund, /auth/login.
  if (method === 'POST' && isOne && !endsWithParam) {
    return fitted(((path.at(-2)?.params.length ?? 0) > 0 ? [last, ...parents] : [...parents, last]).join('_'))
  }
  if (method === 'POST') return fitted(['create', ...parents, singular(last)].join('_'))
  const reading = isOne ? 'get' : 'list'
  const verb = VERBS[method] ?? (method === 'GET' ? reading : wordsOf(method))
  return fitted([verb, ...parents, endsWithParam ? singular(last) : last].join('_'))
}

/** `userProfiles` and `user-profiles` as `user_profiles`; empty without a letter or digit. */
function wordsOf (text: string): string {
  return text.replace(/([a-z\d])([A-Z])/g, '$1_$2').replace(/[^A-Za-z0-9]+/g, '_').replace(/^_|_$/g, '').toLowerCase()
}

/** Words in s that are no plurals: some by their ends, and abbreviations without a vowel, such as dns and tls. */
const SINGULAR = /(ss|us|is|news|series)$|(^|_)([^aeiouy_]+s|alias|aws|canvas|cors|gas|ios|kubernetes|lens|os|saas)$/

/** English plurals, as far as paths use them. */
function singular (word: string): string {
  if (SINGULAR.test(word)) return word
  if (/ies$/.test(word)) return word.replace(/ies$/, 'y')
  return /(ss|us|x|ch|sh)es$/.test(word) ? word.slice(0, -2) : word.replace(/s$/, '')
}

/** At most as long as a name may be: words of the middle are left out. */
function fitted (name: string, most = MOST): string {
  const words = name.split('_')
  while (words.length > 2 && words.join('_').length > most) words.splice(1, 1)
  return words.join('_').slice(0, most)
}

function withEnd (name: string, end: string): string {
  return end === '' ? name : `${fitted(name, MOST - end.length - 1)}_${end}`
}

/** What a model reads of a route that says nothing about itself: `Get user: GET /users/:id`. */
export function descriptionFor (name: string, route: string): string {
  const words = name.replace(/[_-]+/g, ' ').trim()
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}: ${route}`
}
