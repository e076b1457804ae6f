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

/** Asks over HTTP; `undefined` when there is no answer. */
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

/** Waits for an answer, with all redirects to it, at most `timeout` milliseconds. */
export function http (timeout: number): Http {
  const answers = new Map<string, Promise<Answer | undefined>>()

  async function ask (url: string, init: RequestInit, redirects = mostRedirects): Promise<Answer | undefined> {
    const signal = AbortSignal.timeout(timeout)
    try {
      let address = url
      let response = await fetch(address, { ...init, redirect: 'manual', signal })
      let target = targetOf(response, address)
      for (let left = redirects; left > 0 && target && isFollowed(response, target, address, init); left--) {
        await response.body?.cancel()
        address = target.href
        response = await fetch(address, { ...init, redirect: 'manual', signal })
        target = targetOf(response, address)
      }
      const text = await textFrom(response)
      const elsewhere = target && target.origin !== new URL(address).origin ? `${target.protocol}//${target.host}${target.pathname}` : undefined
      return { url, status: response.status, headers: response.headers, elsewhere, text, json: objectFrom(text) }
    } catch {
      return undefined
    }
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

/** Where the answer from an address redirects to. */
function targetOf ({ status, headers }: Response, address: string): URL | undefined {
  const location = [301, 302, 303, 307, 308].includes(status) ? headers.get('location') : null
  return location !== null && URL.canParse(location, address) ? new URL(location, address) : undefined
}

/** As the MCP SDKs do it: within the origin, and what is posted must stay a POST. */
function isFollowed ({ status }: Response, target: URL, address: string, { method = 'GET' }: RequestInit): boolean {
  return target.origin === new URL(address).origin && target.username === '' && target.password === '' &&
    (method === 'GET' || status === 307 || status === 308)
}

async function textFrom (response: Response): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
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
