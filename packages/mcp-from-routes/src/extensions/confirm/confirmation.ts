/**
 * The property of an inner request's raw request that says how its call was confirmed. Only this process can set it: a
 * client has no way to send a symbol.
 */
export const CONFIRMATION = Symbol.for('mcp-from-routes.confirmation')

/** How a call was confirmed. */
export interface Confirmation {
  /** A person answered the form, or the client repeated the call with the token of the first answer. */
  readonly by: 'form' | 'token'
  /** What was asked. */
  readonly text: string
  /** What the client calls itself; undefined if it did not say. Chosen by the client: at most 100 characters. */
  readonly client: string | undefined
}

declare module 'http' {
  interface IncomingMessage {
    /** How a call was confirmed; absent where nobody was asked. */
    [CONFIRMATION]?: Confirmation
  }
}
declare module 'http2' {
  interface Http2ServerRequest {
    /** How a call was confirmed; absent where nobody was asked. */
    [CONFIRMATION]?: Confirmation
  }
}
