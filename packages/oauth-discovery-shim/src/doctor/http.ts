/** An answer, read to its end. */
export interface Answer {
  readonly url: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body when it is a JSON object; else an empty one. */
  readonly json: Readonly<Record<string, unknown>>
}

/** Asks over HTTP; `undefined` when there is no answer. Each GET is sent once and remembered. */
export interface Http {
  get (url: string): Promise<Answer | undefined>
  post (url: string, body: object): Promise<Answer | undefined>
}

const largestAnswer = 1024 * 1024

/** Follows no redirect: neither do the clients, to another origin, and a callback must not be opened. */
export function http (timeout: number): Http {
  const answers = new Map<string, Promise<Answer | undefined>>()

  async function ask (url: string, init: RequestInit): Promise<Answer | undefined> {
    try {
      const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeout) })
      let text = ''
      const decoder = new TextDecoder()
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk, { stream: true })
        if (text.length > largestAnswer) break
      }
      return { url, status: response.status, headers: response.headers, text, json: objectFrom(text) }
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
    })
  }
}

function objectFrom (text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value as Record<string, unknown> : {}
  } catch {
    return {}
  }
}
