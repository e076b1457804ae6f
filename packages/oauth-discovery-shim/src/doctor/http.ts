import http from 'node:http'
import https from 'node:https'
import { OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE } from '../errors.ts'
import { responseTo } from '../http-response.ts'
import { objectFrom } from '../json.ts'
import { literalIn, namesPrivateHost, publicLookup } from '../public-address.ts'

/** A response, read to its end. */
export interface HttpResponse {
  /** The URL of the request, before redirects. */
  readonly url: string
  readonly status: number
  readonly headers: Headers
  /** The target of a redirect to another origin, without query and user. */
  readonly elsewhere: string | undefined
  readonly text: string
  /** The body if it is a JSON object, else an empty one. */
  readonly json: Readonly<Record<string, unknown>>
}

/**
 * Sends requests; `undefined` if there is no response.
 *
 * @throws {@link OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE} for a host that must not be connected to
 */
export interface Http {
  /** Reads a document, following the redirects that clients follow. Requests each URL once and caches the response. */
  get(url: string): Promise<HttpResponse | undefined>
  /** Sends JSON, following the redirects that clients follow. */
  post(url: string, body: object): Promise<HttpResponse | undefined>
  /** Opens a page without following redirects: they may lead to a callback, which must not be opened. */
  open(url: string): Promise<HttpResponse | undefined>
  /** Submits a form of a page, without following redirects. */
  submit(url: string, form: Readonly<Record<string, string>>, cookie: string): Promise<HttpResponse | undefined>
  /**
   * Requests tokens, without following redirects. Requests each URL once for each `client_id` and caches the response.
   */
  tokens(url: string, form: Readonly<Record<string, string>>): Promise<HttpResponse | undefined>
}

const LARGEST_RESPONSE = 1024 * 1024
// as many as the MCP SDKs follow
const MOST_REDIRECTS = 5

interface HttpRequest {
  readonly method?: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * @param timeout - how long a response may take, including all redirects to it, in milliseconds
 * @param publicOnly - connect to public addresses only
 */
export function httpClient (timeout: number, publicOnly: boolean): Http {
  const responses = new Map<string, Promise<HttpResponse | undefined>>()

  async function exchange (
    url: string,
    request: HttpRequest,
    redirects = MOST_REDIRECTS
  ): Promise<HttpResponse | undefined> {
    const signal = AbortSignal.timeout(timeout)
    try {
      let address = url
      let response = await send(address, request, signal)
      let target = targetOf(response, address)
      for (let left = redirects; left > 0 && target && isFollowed(response, target, address, request); left--) {
        response.body.destroy()
        address = target.href
        response = await send(address, request, signal)
        target = targetOf(response, address)
      }
      const { status, headers } = response
      const text = await textFrom(response.body)
      const elsewhere = target && target.origin !== new URL(address).origin
        ? `${target.protocol}//${target.host}${target.pathname}`
        : undefined
      return { url, status, headers, elsewhere, text, json: objectFrom(text) }
    } catch (error) {
      if (error instanceof OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE) throw error
      return undefined
    }
  }

  // Not fetch: it does not show the address it connects to, which may differ from one resolved before.
  async function send (
    address: string,
    { method, headers, body }: HttpRequest,
    signal: AbortSignal
  ): Promise<OpenResponse> {
    const url = new URL(address)
    // an IP address in a URL is never looked up
    if (publicOnly && literalIn(url.hostname) !== undefined && namesPrivateHost(url)) {
      throw hidden(url.hostname, literalIn(url.hostname)!)
    }
    const { request } = url.protocol === 'https:' ? https : http
    const sent = request(url, {
      method,
      headers: { 'user-agent': 'oauth-discovery-shim doctor', ...headers },
      signal,
      agent: false,
      ...publicOnly && { lookup: publicLookup(hidden) }
    })
    const incoming = await responseTo(sent, body, signal)
    return { status: incoming.statusCode!, headers: headersOf(incoming), body: incoming }
  }

  /** Requests it once, and caches the response. */
  function once (key: string, request: () => Promise<HttpResponse | undefined>): Promise<HttpResponse | undefined> {
    const response = responses.get(key) ?? request()
    responses.set(key, response)
    return response
  }

  const postForm = (
    url: string,
    form: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>>
  ): Promise<HttpResponse | undefined> =>
    exchange(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(form).toString()
    }, 0)

  return {
    get: (url) => once(url, () => exchange(url, { headers: { accept: 'application/json, text/html' } })),
    post: (url, body) =>
      exchange(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify(body)
      }),
    open: (url) => exchange(url, { headers: { accept: 'application/json, text/html' } }, 0),
    submit: (url, form, cookie) => postForm(url, form, { accept: 'text/html', cookie }),
    tokens: (url, form) =>
      once(`${url} ${form['client_id'] ?? ''}`, () => postForm(url, form, { accept: 'application/json' }))
  }
}

const hidden = (hostname: string, address: string): Error => new OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE(hostname, address)

/** A response whose body was not read yet. */
interface OpenResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: http.IncomingMessage
}

function headersOf ({ headersDistinct }: http.IncomingMessage): Headers {
  return new Headers(
    Object.entries(headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value])
    )
  )
}

/** Where a response redirects to. */
function targetOf ({ status, headers }: OpenResponse, address: string): URL | undefined {
  const location = [301, 302, 303, 307, 308].includes(status) ? headers.get('location') : null
  return location !== null && URL.canParse(location, address) ? new URL(location, address) : undefined
}

/** As the MCP SDKs do: within the origin, and a POST must stay a POST. */
function isFollowed ({ status }: OpenResponse, target: URL, address: string, { method = 'GET' }: HttpRequest): boolean {
  return target.origin === new URL(address).origin && target.username === '' && target.password === '' &&
    (method === 'GET' || status === 307 || status === 308)
}

async function textFrom (body: http.IncomingMessage): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > LARGEST_RESPONSE) break
  }
  return text
}

/** The result of a request, in words that follow its URL. */
export function outcome (response: HttpResponse | undefined): string {
  if (response === undefined) return 'does not answer'
  return response.elsewhere === undefined
    ? `returns ${response.status}`
    : `redirects to ${response.elsewhere}, and clients do not follow redirects to another origin`
}
