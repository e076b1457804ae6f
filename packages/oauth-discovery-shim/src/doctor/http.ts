import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE } from '../errors.ts'
import { demandPublicLiteral, lookupPublic } from './public-address.ts'

/** An answer, read to its end. */
export interface Answer {
  /** What was asked for, also where redirects led elsewhere. */
  readonly url: string
  readonly status: number
  readonly headers: Headers
  /** Where it redirects to when that is another origin, without query and user. */
  readonly elsewhere: string | undefined
  readonly text: string
  /** The body when it is a JSON object; else an empty one. */
  readonly json: Readonly<Record<string, unknown>>
}

/**
 * Asks over HTTP; `undefined` when there is no answer.
 *
 * @throws {@link OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE} for a host that may not be asked
 */
export interface Http {
  /** Reads a document, and follows the redirects that clients follow. Each is asked for once and remembered. */
  get (url: string): Promise<Answer | undefined>
  /** Sends JSON, and follows the redirects that clients follow. */
  post (url: string, body: object): Promise<Answer | undefined>
  /** Opens a page and follows no redirect: it may lead to a callback, which must not be opened. */
  open (url: string): Promise<Answer | undefined>
}

const largestAnswer = 1024 * 1024
// as many as the MCP SDKs follow
const mostRedirects = 5

interface Question {
  readonly method?: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * @param timeout longest wait for an answer, with all redirects to it, in milliseconds
 * @param publicOnly connect to public addresses only
 */
export function httpClient (timeout: number, publicOnly: boolean): Http {
  const answers = new Map<string, Promise<Answer | undefined>>()

  async function ask (url: string, question: Question, redirects = mostRedirects): Promise<Answer | undefined> {
    const signal = AbortSignal.timeout(timeout)
    try {
      let address = url
      let response = await send(address, question, signal)
      let target = targetOf(response, address)
      for (let left = redirects; left > 0 && target && isFollowed(response, target, address, question); left--) {
        response.body.destroy()
        address = target.href
        response = await send(address, question, signal)
        target = targetOf(response, address)
      }
      const { status, headers } = response
      const text = await textFrom(response.body)
      const elsewhere = target && target.origin !== new URL(address).origin ? `${target.protocol}//${target.host}${target.pathname}` : undefined
      return { url, status, headers, elsewhere, text, json: objectFrom(text) }
    } catch (error) {
      if (error instanceof OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE) throw error
      return undefined
    }
  }

  // Not fetch: it does not let us look at the address that it connects to, and one that was resolved before may be another.
  async function send (address: string, { method = 'GET', headers, body }: Question, signal: AbortSignal): Promise<Response> {
    const url = new URL(address)
    if (publicOnly) demandPublicLiteral(url)
    const { request } = url.protocol === 'https:' ? https : http
    const sent = request(url, { method, headers: { 'user-agent': 'oauth-discovery-shim doctor', ...headers }, signal, agent: false, ...publicOnly && { lookup: lookupPublic } })
    // Once there is a response, its body fails as well.
    sent.on('error', () => {})
    const [incoming] = await once(sent.end(body), 'response') as [http.IncomingMessage]
    return { status: incoming.statusCode ?? 0, headers: headersOf(incoming), body: incoming }
  }

  return {
    get (url) {
      const answer = answers.get(url) ?? ask(url, { headers: { accept: 'application/json, text/html' } })
      answers.set(url, answer)
      return answer
    },
    post: (url, body) => ask(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(body)
    }),
    open: url => ask(url, { headers: { accept: 'application/json, text/html' } }, 0)
  }
}

interface Response {
  readonly status: number
  readonly headers: Headers
  readonly body: http.IncomingMessage
}

function headersOf ({ headersDistinct }: http.IncomingMessage): Headers {
  return new Headers(Object.entries(headersDistinct).flatMap(([name, values = []]) => values.map((value): [string, string] => [name, value])))
}

/** Where the answer from an address redirects to. */
function targetOf ({ status, headers }: Response, address: string): URL | undefined {
  const location = [301, 302, 303, 307, 308].includes(status) ? headers.get('location') : null
  return location !== null && URL.canParse(location, address) ? new URL(location, address) : undefined
}

/** As the MCP SDKs do it: within the origin, and what is posted must stay a POST. */
function isFollowed ({ status }: Response, target: URL, address: string, { method = 'GET' }: Question): boolean {
  return target.origin === new URL(address).origin && target.username === '' && target.password === '' &&
    (method === 'GET' || status === 307 || status === 308)
}

async function textFrom (body: http.IncomingMessage): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > largestAnswer) break
  }
  return text
}

function objectFrom (text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value as Record<string, unknown> : {}
  } catch {
    return {}
  }
}

/** What became of a request, in words. */
export function outcome (answer: Answer | undefined): string {
  if (answer === undefined) return 'answers nothing'
  return answer.elsewhere === undefined
    ? `answers ${answer.status}`
    : `redirects to ${answer.elsewhere}, and clients do not follow to another origin`
}
