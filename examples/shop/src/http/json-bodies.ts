import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { SHOP_BODY_NOT_UTF8, SHOP_TOO_MANY_VALUES } from '../errors.ts'
import { isInner } from './inner-request.ts'

/** Parses JSON, and rejects keys that would change the prototype of an object. @throws SyntaxError */
export type ParseJson = (text: string) => unknown

/** How many values the JSON of a request may have. An object of so many keys takes the parser some 30 milliseconds. */
const MAX_VALUES = 20_000

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json$/i

/**
 * Checks JSON bodies of all routes while they arrive, before they are parsed: how many values they have, which decides
 * how long the parser and whoever walks through them keep everybody else waiting; and that they are UTF-8, since other
 * bytes would become another character.
 *
 * @throws {@link SHOP_TOO_MANY_VALUES} | {@link SHOP_BODY_NOT_UTF8}
 */
export function limitJson (app: FastifyInstance): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const type = request.headers['content-type']
    // The call that an inner request is part of has passed here.
    if (type === undefined || isInner(request) || !JSON_TYPE.test(mediaType(type))) return done(null, payload)
    // Nothing is read before somebody reads it.
    done(null, Readable.from(checked(payload as Readable), { objectMode: false }))
  })
}

/** As Fastify reads it: blanks may stand before the parameters. */
function mediaType (header: string): string {
  return header.split(';', 1)[0]!.trim()
}

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = ['"', '\\', ',', '[', '{'].map((character) =>
  character.charCodeAt(0)
) as [number, number, number, number, number]

async function* checked (body: Readable): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let [values, inString, escaped] = [0, false, false]

  function count (chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]
      if (inString) {
        if (escaped) escaped = false
        else if (byte === BACKSLASH) escaped = true
        else if (byte === QUOTE) inString = false
      } else if (byte === QUOTE) inString = true
      else if (byte === COMMA || byte === BRACKET || byte === BRACE) values += 1
    }
  }

  function refuseOthers (chunk?: Buffer): void {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      throw new SHOP_BODY_NOT_UTF8()
    }
  }

  // The body stays open if it is refused: the answer takes the same connection.
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    count(chunk)
    if (values > MAX_VALUES) throw new SHOP_TOO_MANY_VALUES(MAX_VALUES)
    refuseOthers(chunk)
    yield chunk
  }
  refuseOthers()
}
