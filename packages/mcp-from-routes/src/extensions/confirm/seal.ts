import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server'
import type { Settings } from '../../settings.ts'
import type { Core } from '../../extension.ts'
import { secretsFrom, type Secret } from '../secrets.ts'

/** The subject of a confirmation, which is valid for exactly these values. */
export interface Subject {
  /** The request to the endpoint, which identifies the caller. */
  readonly outer: FastifyRequest
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
  /** What the person reads. */
  readonly question: string
}

/**
 * The content of `requestState`, which travels through the client, signed. It contains only a digest of the subject.
 */
export interface Sealed {
  readonly id: string
  /** The keyed digest of the subject. */
  readonly of: string
  /** Milliseconds since 1970. */
  readonly until: number
}

/** Seals confirmations, and verifies those that it sealed. */
export interface Sealer {
  /** Seals a subject for {@link LIFETIME}, as the `requestState` of a question. */
  readonly state: (subject: Subject) => Promise<string>
  /**
   * @throws if it was sealed with another key, changed, or sealed more than an hour ago; the SDK then rejects the
   * message
   */
  readonly verify: (state: string, context: ServerContext) => Promise<Sealed>
  /** Whether a verified state is for the subject and has not expired. */
  readonly isFor: (sealed: Sealed, subject: Subject) => boolean
  /** A token for the subject, short enough for a model to repeat. */
  readonly token: (subject: Subject) => string
  /** Whether a token is for the subject and has not expired. */
  readonly isToken: (token: string, subject: Subject) => boolean
}

/** How long an answer may take, in milliseconds. */
export const LIFETIME = 120_000
/** An older state is rejected instead of asking again, in seconds. */
const STATE_TTL = 3600
/** Characters of a token's digest, of 6 bits each. */
const DIGEST = 22

/**
 * The server's name is part of every subject, so that two servers with the same secret do not accept each other's
 * confirmations.
 */
export function sealerFrom (
  { serverInfo, secret, callerOf }: Pick<Core, 'callerOf'> & Pick<Settings, 'serverInfo'> & {
    readonly secret: Secret | undefined
  }
): Sealer {
  const keys = secretsFrom(secret)
  const [newest] = keys
  const codecs = keys.map((key) => createRequestStateCodec<Sealed>({ key, ttlSeconds: STATE_TTL }))

  function digest (
    key: Buffer,
    kind: 'state' | 'token',
    until: number,
    { outer, tool, args, question }: Subject
  ): string {
    // The SDK's codec signs with the same key, but nothing that starts like this.
    const text = canonical([
      'mcp-from-routes.confirm',
      kind,
      until,
      serverInfo.name,
      callerOf(outer),
      tool,
      args,
      question
    ])
    return createHmac('sha256', key).update(text).digest('base64url')
  }

  return {
    state (subject) {
      const until = Date.now() + LIFETIME
      return codecs[0]!.mint({
        id: randomBytes(16).toString('base64url'),
        of: digest(newest, 'state', until, subject),
        until
      })
    },
    verify: async (state, context) =>
      await Promise.any(codecs.map(async (codec) => await codec.verify(state, context))),
    isFor: ({ of, until }, subject) =>
      until >= Date.now() && keys.some((key) => of === digest(key, 'state', until, subject)),
    token (subject) {
      const until = Date.now() + LIFETIME
      return `${until.toString(36)}-${digest(newest, 'token', until, subject).slice(0, DIGEST)}`
    },
    isToken (token, subject) {
      const [, time = '', given = ''] = /^([a-z0-9]{1,10})-([\w-]{22})$/.exec(token) ?? []
      const until = Number.parseInt(time, 36)
      if (!(until >= Date.now())) return false
      return keys.some((key) =>
        timingSafeEqual(Buffer.from(given), Buffer.from(digest(key, 'token', until, subject).slice(0, DIGEST)))
      )
    }
  }
}

/** The same string for the same JSON, whatever the order of its members. */
function canonical (json: unknown): string {
  return JSON.stringify(
    json,
    (_name, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1))
        : value
  )
}
