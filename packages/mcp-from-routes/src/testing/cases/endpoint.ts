import { MCP_FROM_ROUTES_CASES_MODEL } from '../errors.ts'
import { chat } from './chat.ts'
import type { Dialect } from './dialect.ts'
import { messages } from './messages.ts'

/** Where a model is asked. */
export interface ModelEndpoint {
  readonly url: URL
  readonly dialect: Dialect
  readonly model: string
  /** A secret: never part of a message. */
  readonly key: string
  /** How long an answer may take, in milliseconds. */
  readonly timeout: number
}

const DIALECTS = [messages, chat]

/**
 * The endpoint of a model, by options or else by the environment. The key comes from the environment only: a command
 * line is kept by the shell and seen by others.
 *
 * @param env - `CASES_URL`, `CASES_MODEL`, `CASES_KEY`
 * @throws {@link MCP_FROM_ROUTES_CASES_MODEL}
 */
export function endpointFrom (
  { url: wanted, model: named, timeout }: {
    readonly url: string | undefined,
    readonly model: string | undefined,
    readonly timeout: number
  },
  { CASES_URL, CASES_MODEL, CASES_KEY: key = '' }: NodeJS.ProcessEnv
): ModelEndpoint {
  const address = wanted ?? CASES_URL ?? ''
  const model = named ?? CASES_MODEL ?? ''
  const url = URL.canParse(address) ? new URL(address) : undefined
  const dialect = DIALECTS.find(({ path }) => url?.pathname.endsWith(path))
  const fail = (what: string): Error => new MCP_FROM_ROUTES_CASES_MODEL(what)
  if (url === undefined || dialect === undefined || !/^https?:$/.test(url.protocol)) {
    throw fail(
      'the endpoint of the model must be a URL that ends with /messages or /chat/completions, such as ' +
        'https://api.anthropic.com/v1/messages. Give it as --url or CASES_URL'
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw fail('the URL of the endpoint must not have a user or password. The key is CASES_KEY')
  }
  if (model === '') throw fail('there is no model. Give it as --model or CASES_MODEL')
  if (key === '') {
    throw fail(
      'there is no key of the endpoint. Give it as CASES_KEY, which a local model may ignore. Nothing was sent'
    )
  }
  // What else would make the error of fetch show it.
  if (!/^[\x21-\x7e]+$/.test(key)) throw fail('CASES_KEY must be printable ASCII, without spaces or line breaks')
  return { url, dialect, model, key, timeout }
}
