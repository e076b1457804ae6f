import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { invalid, preconditionFailed } from '../errors.ts'
import { Problem } from './schemas.ts'

/*
 * Preconditions of HTTP, so that nobody overwrites what they have not seen. The version of a record is its
 * `updated_at`, which rises with each change, see database/updated-at.ts.
 */

interface Versioned {
  readonly updated_at: string
  /** For a record that shows fields of another one too. Default: `updated_at`. */
  readonly version?: string
}

/** Throws {@link SHOP_PRECONDITION_FAILED} if a record is no longer the one that the caller read. */
export type Precondition = (record: Versioned) => void

/** The header of a route that changes a record. */
export const IfMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({ description: 'The ETag of the record as you read it: 412 if it has changed since' })
  )
})

/** The same for agents, who read and send no headers: the version of what they change is its `updated_at`. */
export const MATCH_ARGUMENT = {
  headers: { 'if-match': { name: 'if_match', description: 'updated_at as read: fails if changed' } }
} as const

/** Rejects `If-Match` where there is no `ETag`, since it cannot hold there. */
export function refuseUnmatched (app: FastifyInstance): void {
  app.addHook('preHandler', async ({ headers: { 'if-match': tags }, method, routeOptions: { schema } }) => {
    if (
      tags === undefined || tags === '*' || !['PATCH', 'PUT', 'DELETE'].includes(method) || schema?.headers === IfMatch
    ) return
    throw invalid('if-match', 'if-match cannot hold: what this changes has no ETag')
  })
}

/** The response schemas of a route that reads a record. */
export const readRecord = <Record extends TSchema>(record: Record) => ({
  200: record,
  304: Type.Null({ description: 'If-None-Match has the ETag' })
})

/** The response schema of a route that changes a record, for one that has changed meanwhile. */
export const changedMeanwhile = <Record extends TObject>(record: Record) => ({
  412: Type.Object({ ...Problem.properties, current: record }, {
    description: 'The record has changed since; current is what it is now'
  })
})

/** Sends a record with its version as `ETag`, or 304 to a reader that has that one. */
export function sendRecord<Row extends Versioned> (reply: FastifyReply, record: Row): Row {
  return tagged(reply, versionOf(record)) ? reply.code(304).send() as unknown as Row : record
}

/**
 * Reads and sends a list with its version as `ETag`, or only 304 to a reader that has that one: it costs no more than
 * the version.
 */
export async function unlessKnown<Body> (
  reply: FastifyReply,
  version: string,
  read: () => Promise<Body>
): Promise<Body> {
  return tagged(reply, version) ? reply.code(304).send() as unknown as Body : await read()
}

/** Sets the `ETag`. @returns whether the reader has that one */
function tagged (reply: FastifyReply, tag: string): boolean {
  reply.header('etag', etagOf(tag))
  const known = reply.request.headers['if-none-match']
  return known !== undefined && ['GET', 'HEAD'].includes(reply.request.method) &&
    matches(tagsIn('if-none-match', known), tag)
}

/** What `If-Match` of the request asks of the record; undefined if there is none. */
export function preconditionOf ({ headers: { 'if-match': header } }: FastifyRequest): Precondition | undefined {
  if (header === undefined) return undefined
  // Weak tags match no change (RFC 9110 §8.8.3.2).
  const tags = tagsIn('if-match', header)?.filter(({ isWeak }) => !isWeak)
  return (record) => {
    const version = versionOf(record)
    if (!matches(tags, version)) throw preconditionFailed(record, etagOf(version))
  }
}

function etagOf (version: string): string {
  return `"${version}"`
}

function versionOf ({ updated_at: updatedAt, version = updatedAt }: Versioned): string {
  return version
}

interface Tag {
  readonly isWeak: boolean
  readonly value: string
}

function matches (tags: readonly Tag[] | undefined, value: string): boolean {
  return tags === undefined || tags.some((tag) => tag.value === value)
}

/** An element of a list of tags, which may be empty. */
const ELEMENT = /\s*(?:(?:(W\/)?"([^"]*)"|([^\s",*][^\s",]*))\s*)?(?:,|$)/gy

/**
 * A tag without quotes, which is none by the letter, counts as the same with quotes: the `updated_at` of a record as a
 * model has read it.
 *
 * @returns the tags of a header; undefined for `*`, which means any
 * @throws {@link SHOP_INVALID}
 * @see [RFC 9110 §5.6.1](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.1): lists may have empty elements
 */
function tagsIn (header: string, text: string): readonly Tag[] | undefined {
  if (text.trim() === '*') return undefined
  const elements = Array.from(text.matchAll(ELEMENT))
  const tags = elements.flatMap(([, weak, quoted, bare]) => {
    const value = quoted ?? bare
    return value === undefined ? [] : [{ isWeak: weak !== undefined, value }]
  })
  if (tags.length === 0 || elements.reduce((length, [part]) => length + part.length, 0) !== text.length) {
    throw invalid(header, `${header} must be *, or tags in quotes, as ETag has them`)
  }
  return tags
}
