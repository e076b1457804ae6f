import type { FastifyRequest } from 'fastify'
import { excerpt } from '#shared/excerpt'
import { cleanLine } from '../http/text.ts'

/** What a client calls itself: chosen by the client, so it proves nothing. */
export interface ClientName {
  readonly name: string
  /** '' if it did not say. */
  readonly version: string
}

/** In characters. */
const LONGEST_NAME = 80
const LONGEST_VERSION = 40

/** Longer names are not looked at. */
const TOO_LONG = 1000

/** Where each message of revision 2026-07-28 names the client. Earlier ones name it once, in `initialize`. */
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo'

interface Message {
  readonly method?: unknown
  readonly params?: { readonly clientInfo?: unknown, readonly _meta?: Readonly<Record<string, unknown>> }
}

/**
 * The client of a message to the endpoint, as it came: {@link clientName} reads it. Undefined where the message does
 * not say.
 */
export function clientInfoIn (body: FastifyRequest['body']): unknown {
  if (typeof body !== 'object' || body === null) return undefined
  const { method, params } = body as Message
  return method === 'initialize' ? params?.clientInfo : params?._meta?.[CLIENT_INFO]
}

/** @returns undefined for what has no name */
export function clientName (info: unknown): ClientName | undefined {
  if (typeof info !== 'object' || info === null) return undefined
  const { name, title, version } = info as Readonly<Record<string, unknown>>
  const told = line(title, LONGEST_NAME) || line(name, LONGEST_NAME)
  return told === '' ? undefined : { name: told, version: line(version, LONGEST_VERSION) }
}

function line (text: unknown, most: number): string {
  return typeof text === 'string' && text.length <= TOO_LONG
    ? excerpt(cleanLine(text.replace(/[\p{Cc}\p{Surrogate}]/gu, ' ')), most)
    : ''
}
