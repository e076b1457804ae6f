import type { Credentials } from 'identity-provider'
import type { Fixture } from './fixture.ts'
import type { Shop } from './shop.ts'

/** What the server says to a call, with ids and times replaced as {@link normal} does. */
export interface Answer {
  readonly isError: boolean
  /** Text as it is, an image as `<image>`, other content as JSON. */
  readonly content: readonly string[]
  /** What is no object is in one. The headers stand beside it, or among the fields of a record. */
  readonly structured?: object
}

/** One call of a tool, and what the server must say to it. */
export interface Scene {
  /** Names it in the page and in what clients do otherwise. */
  readonly title: string
  /**
   * What the server must do, for readers of the page; left out for a call that only prepares the next one, or whose
   * result looks like another on the page or is told elsewhere.
   */
  readonly about?: string
  /** What happens before the call. */
  readonly before?: () => Promise<void>
  readonly tool: string
  readonly arguments: object
  /** The question to the person at the client; left out where nobody is asked. */
  readonly asks?: Asks
  /** Word for word; the status of HTTP where there is no answer of the protocol. */
  readonly says: Answer | { readonly status: number }
}

/** A question to a person, and what comes of it. */
export interface Asks {
  /** Word for word, with ids and times replaced. */
  readonly reads: string
  readonly says: 'yes' | 'no' | 'nothing'
  /** What happens before the answer. */
  readonly meanwhile?: () => Promise<void>
  /** What becomes of the answer on its way to the server. */
  readonly tamper?: (params: any) => void
  /** What the person is asked after that, and closes. Default: nothing. */
  readonly readsAgain?: string
}

/** What a client does in one run, with one credential at one server. */
export interface Visit {
  readonly name: string
  /** Whether the page shows what the client knows when it has connected, and a resource of the server is read. */
  readonly isFirst?: true
  /** Origin of the server. */
  readonly origin: string
  readonly headers: Readonly<Record<string, string>>
  /** All tools that the server lists. */
  readonly tools: readonly string[]
  /**
   * Who signs in with a browser, in place of headers. The client then talks to the server itself: nothing is recorded.
   */
  readonly person?: Credentials
  /** Whether it is only for clients that are told the URL of a metadata document, by which they sign in. */
  readonly byDocument?: true
  /** Only clients that can ask their person take it, or only those that cannot. Default: all. */
  readonly canAsk?: boolean
  /** How the server's instructions begin. */
  readonly instructions: string
  readonly scenes: readonly Scene[]
}

/** Where visits take place: a shop for all clients, and a small server for each. */
export interface Stage {
  readonly shop: Shop
  readonly fixture: Fixture
  /** Sends what follows to another server. */
  readonly redirect: (origin: string) => void
  /** Closes all connections of the client. */
  readonly disconnect: () => void
}

/** A result with data: its JSON, and the headers that the model sees. */
export function data (json: string, ...headers: readonly string[]): Answer {
  const value: object = JSON.parse(json)
  const beside = headers.length > 0 && { headers: Object.fromEntries(headers.map((header) => header.split(': '))) }
  return {
    isError: false,
    content: headers.length > 0 ? [json, headers.join('\n')] : [json],
    structured: { ...Array.isArray(value) ? { result: value } : value, ...beside }
  }
}

/** A result of content without a structure. */
export function content (...blocks: readonly string[]): Answer {
  return { isError: false, content: blocks }
}

/** A tool's error. */
export function error (...blocks: readonly string[]): Answer {
  return { isError: true, content: blocks }
}
