import { isConnectionLost, type Session } from '../session/session.ts'
import { texts } from '../texts.ts'
import { outcomeOf } from './outcome.ts'
import { ApiError } from './problem.ts'

/** A response of the server whose status is 2xx. */
export interface Answer<Body = any> {
  readonly status: number
  readonly headers: Headers
  /** As text. */
  readonly body: string
  /** The parsed body; undefined if there is none. */
  readonly json: Body
}

export interface Request {
  readonly method?: string
  /** Sent as JSON. */
  readonly data?: unknown
  /** JSON already, unless the headers name another type. */
  readonly body?: string | Blob
  readonly headers?: Headers
  readonly signal?: AbortSignal
  /** Whether it changes nothing on the server. Default: for GET alone. */
  readonly isRead?: boolean
}

/** What came over the wire. */
interface Received {
  readonly status: number
  readonly headers: Headers
  /** Undefined if it was cut off. */
  readonly body: string | undefined
}

/** Calls the server as the person who signed in. @throws {@link ApiError} */
export type Call = <Body = any>(url: string, request?: Request) => Promise<Answer<Body>>

/**
 * How often a read without a connection, or refused by a busy server, is tried again, and after how many milliseconds.
 * Not writes: one may have arrived.
 */
const RETRIES = [400, 1600]

/** How many answers are kept, to be used again while the server says that they are the same. */
const KEPT = 30

/** Reads name the version that they have, so what a page reads again and again costs little while nothing changes. */
export function callAs (session: Session): Call {
  const kept = new Map<string, Answer>()
  const call = unversioned(session)
  return async (url, request = {}) => {
    if ((request.method ?? 'GET') !== 'GET') return await call(url, request)
    const known = kept.get(url)
    const headers = new Headers(request.headers)
    if (known !== undefined) headers.set('if-none-match', known.headers.get('etag')!)
    const answer = await call(url, { ...request, headers })
    if (answer.status === 304 && known !== undefined) return known
    kept.delete(url)
    if (answer.headers.has('etag')) kept.set(url, answer)
    if (kept.size > KEPT) kept.delete(kept.keys().next().value!)
    return answer
  }
}

function unversioned (session: Session): Call {
  return async (url, request = {}) => {
    // Pages read by themselves, and write when somebody asks for it.
    const isWanted = request.method !== undefined && request.method !== 'GET'
    const token = await tokenOf(session, undefined, isWanted)
    const received = await send(url, request, token)
    if (received.status !== 401) return answerFrom(received, request)
    // The token ended early, or its client was removed.
    return answerFrom(await send(url, request, await tokenOf(session, token, isWanted)), request)
  }
}

/** @throws {@link ApiError} if there is no connection to renew it: nothing was sent then */
async function tokenOf (session: Session, refused: string | undefined, isWanted: boolean): Promise<string> {
  try {
    return await session.token(refused, isWanted)
  } catch (error) {
    throw isConnectionLost(error) ? notSent() : error
  }
}

function notSent (): ApiError {
  return new ApiError(0, { message: texts.errors.notSent }, undefined, 'not sent')
}

function isReading ({ method = 'GET', isRead = method === 'GET' }: Request): boolean {
  return isRead
}

async function send (url: string, request: Request, token: string, tries = 0): Promise<Received> {
  const { method = 'GET', data, body, headers, signal } = request
  const sent = data === undefined ? body : JSON.stringify(data)
  const pause = method === 'GET' ? RETRIES[tries] : undefined
  const again = async (milliseconds: number): Promise<Received> => {
    await new Promise((resolve) => setTimeout(resolve, milliseconds))
    return await send(url, request, token, tries + 1)
  }
  // What would be sent now could arrive later, when somebody has done it otherwise.
  if (!isReading(request) && navigator.onLine === false) throw notSent()
  try {
    const response = await fetch(url, {
      method,
      credentials: 'omit',
      ...signal !== undefined && { signal },
      ...sent !== undefined && { body: sent },
      headers: {
        accept: 'application/json',
        ...sent !== undefined && { 'content-type': 'application/json' },
        ...Object.fromEntries(headers ?? []),
        authorization: `Bearer ${token}`
      }
    })
    const { status, headers: answered } = response
    const wait = Number(answered.get('retry-after') ?? 0) * 1000
    if (status === 503 && pause !== undefined) return await again(wait || pause)
    const whole = await response.text().catch((error: unknown) => {
      if (isReading(request) || !isConnectionLost(error)) throw error
      return undefined
    })
    return { status, headers: answered, body: whole }
  } catch (error) {
    if (!isConnectionLost(error)) throw error
    if (pause !== undefined) return await again(pause)
    if (isReading(request)) throw new ApiError(0, { message: texts.errors.connection })
    throw new ApiError(0, { message: texts.errors.lost }, undefined, 'open')
  }
}

/** @throws {@link ApiError} for all but success */
function answerFrom ({ status, headers, body }: Received, request: Request): Answer {
  const isSuccess = status >= 200 && status < 300
  const requestId = headers.get('x-request-id') ?? undefined
  if (body === undefined && isSuccess) throw new ApiError(status, { message: texts.errors.cut }, requestId, 'done')
  const json = parsed(body ?? '')
  // Somebody else has answered, such as the page of a network that wants a sign-in.
  const isOther = json === undefined && body !== '' && !(request.headers?.has('accept') ?? false)
  if ((isSuccess && !isOther) || status === 304) return { status, headers, body: body ?? '', json }
  const problem = json ?? { message: `${texts.errors.unreadable} ${status}` }
  throw new ApiError(status, problem, requestId, isReading(request) ? 'refused' : outcomeOf(status, problem.code))
}

function parsed (text: string): any {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The path and query of a list in the grammar of the server. */
export function listUrl (
  path: string,
  { skip, limit, filter = {}, sort }: {
    readonly skip?: number,
    readonly limit?: number,
    readonly filter?: object,
    readonly sort?: string
  } = {}
): string {
  const query = new URLSearchParams()
  if (skip !== undefined) query.set('skip', String(skip))
  if (limit !== undefined) query.set('limit', String(limit))
  if (sort !== undefined) query.set('sort', sort)
  if (Object.keys(filter).length > 0) query.set('filter', JSON.stringify(filter))
  return `${path}?${query}`
}

/** `products 0-25/319`: what to skip for the next page, and how many there are in all. */
export function rangeFrom (headers: Headers): { readonly next: number, readonly total: number } {
  const [, next = '0', total = '0'] = /-(\d+)\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? []
  return { next: Number(next), total: Number(total) }
}

/** The largest page of most lists. */
export const PAGE = 200

/** Reads a whole list, up to a maximum. A page may end early because its records are large. */
export async function readAll<Row> (
  call: Call,
  path: string,
  query: { readonly filter?: object, readonly sort?: string } = {},
  most = 2000
): Promise<{ readonly rows: Row[], readonly total: number }> {
  const rows: Row[] = []
  for (let skip = 0;;) {
    const { headers, json } = await call<Row[]>(
      listUrl(path, { ...query, skip, limit: Math.min(PAGE, most - rows.length) })
    )
    const { next, total } = rangeFrom(headers)
    rows.push(...json)
    if (next >= total || next <= skip || rows.length >= most) return { rows, total }
    skip = next
  }
}
