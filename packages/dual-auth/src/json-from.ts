import { hasUser, isSafeUrl } from './option-checks.ts'

/** In bytes; a set of keys has a few thousand, what is said of a token less. */
const BODY_LIMIT = 512 * 1024

/** A request with a form in its body. */
interface Question {
  readonly headers?: Readonly<Record<string, string>>
  readonly form?: Readonly<Record<string, string>>
}

/**
 * Reads a JSON document of another server. Redirects are rejected: they could lead anywhere.
 *
 * @param what - the document, for messages
 * @param signal - ends the whole read
 * @param http - whether it may come over http from another machine
 * @param question - what to send; @default a GET
 * @throws an Error whose message names the document, its URL and the reason
 */
export async function jsonFrom (
  url: string,
  what: string,
  signal: AbortSignal,
  http = false,
  question: Question = {}
): Promise<unknown> {
  if (!isSafeUrl(url, http)) throw new Error(`the URL of ${what} is neither https nor on loopback`)
  if (hasUser(url)) throw new Error(`the URL of ${what} contains a user or a password`)
  let text
  try {
    text = await textFrom(url, signal, question)
  } catch (error) {
    throw new Error(`${what} at ${url} cannot be read: ${reasonOf(error)}`, { cause: error })
  }
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${what} at ${url} is not JSON`)
  }
}

async function textFrom (url: string, signal: AbortSignal, { headers, form }: Question): Promise<string> {
  const response = await fetch(url, {
    headers: { accept: 'application/json', 'accept-encoding': 'identity', ...headers },
    signal,
    redirect: 'error',
    ...form !== undefined && { method: 'POST', body: new URLSearchParams(form) }
  })
  if (!response.ok || response.body === null) {
    await response.body?.cancel()
    throw new Error(`status ${response.status}`)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.length
    if (size > BODY_LIMIT) throw new Error(`more than ${BODY_LIMIT} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** `fetch failed` says nothing; what the system says is in its cause, or in that of each address that was tried. */
function reasonOf (error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  return 'code' in cause ? String(cause.code) : cause.message
}
