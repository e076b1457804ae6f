import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Teardown } from '../../build.ts'

/** A span as an exporter sent it. */
export interface ReceivedSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  /** '' for the root of a trace. */
  readonly parentId: string
  readonly attributes: Readonly<Record<string, unknown>>
  /** Ids of the linked spans. */
  readonly links: readonly string[]
  /** 0 unset, 1 ok, 2 error. */
  readonly status: number
  /** Attributes of the resource. */
  readonly resource: Readonly<Record<string, unknown>>
  /** Name of the instrumentation. */
  readonly scope: string
}

export interface Receiver {
  readonly url: string
  /** Waits until so many spans fulfil the condition. @returns all spans so far */
  readonly until: (isWanted: (span: ReceivedSpan) => boolean, count?: number) => Promise<readonly ReceivedSpan[]>
}

/** A collector of OTLP over HTTP with protobuf, for spans. */
export async function startReceiver (t: Teardown): Promise<Receiver> {
  const spans: ReceivedSpan[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    spans.push(...spansIn(Buffer.concat(chunks)))
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
    server.emit('spans')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.close().closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async until (isWanted, count = 1) {
      while (spans.filter(isWanted).length < count) await once(server, 'spans')
      return spans
    }
  }
}

/** The names of a span's ancestors, from the root of its trace to itself. */
export function pathOf (span: ReceivedSpan, all: readonly ReceivedSpan[]): readonly string[] {
  const parent = all.find(({ spanId, traceId }) => spanId === span.parentId && traceId === span.traceId)
  return [...parent === undefined ? [] : pathOf(parent, all), span.name]
}

/**
 * @see
 * [trace.proto](https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto)
 */
function spansIn (message: Buffer): ReceivedSpan[] {
  return messages(message, 1).flatMap((ofResource) => {
    const resource = attributesIn(messages(ofResource, 1).flatMap((part) => messages(part, 1)))
    return messages(ofResource, 2).flatMap((ofScope) => {
      const scope = messages(ofScope, 1).map((part) => textIn(part, 1))[0] ?? ''
      return messages(ofScope, 2).map((span) => ({
        name: textIn(span, 5),
        kind: Number(first(span, 6) ?? 0),
        traceId: hexIn(span, 1),
        spanId: hexIn(span, 2),
        parentId: hexIn(span, 4),
        attributes: attributesIn(messages(span, 9)),
        links: messages(span, 13).map((link) => hexIn(link, 2)),
        status: Number(messages(span, 15).map((status) => first(status, 3))[0] ?? 0),
        resource,
        scope
      }))
    })
  })
}

function attributesIn (pairs: readonly Buffer[]): Record<string, unknown> {
  return Object.fromEntries(pairs.map((pair) => [textIn(pair, 1), messages(pair, 2).map(valueIn)[0]]))
}

function valueIn (value: Buffer): unknown {
  const [field] = fieldsIn(value)
  if (field === undefined) return ''
  const { number, content } = field
  if (number === 1) return String(content)
  if (number === 2) return content === 1n
  if (number === 4) return (content as Buffer).readDoubleLE()
  return number === 5 ? messages(content as Buffer, 1).map(valueIn) : Number(content)
}

const messages = (message: Buffer, number: number): Buffer[] =>
  fieldsIn(message).filter((field) => field.number === number).map(({ content }) => content as Buffer)
const first = (message: Buffer, number: number): Buffer | bigint | undefined =>
  fieldsIn(message).find((field) => field.number === number)?.content
const textIn = (message: Buffer, number: number): string => String(first(message, number) ?? '')
const hexIn = (message: Buffer, number: number): string =>
  Buffer.from((first(message, number) ?? '') as Buffer).toString('hex')

interface Field {
  readonly number: number
  readonly content: Buffer | bigint
}

/** @see [Protobuf encoding](https://protobuf.dev/programming-guides/encoding/) */
function fieldsIn (message: Buffer): Field[] {
  const fields: Field[] = []
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n;; shift += 7n) {
      const byte = BigInt(message[at++]!)
      value |= (byte & 127n) << shift
      if (byte < 128n) return value
    }
  }
  while (at < message.length) {
    const tag = Number(varint())
    const type = tag & 7
    if (type === 0) {
      fields.push({ number: tag >> 3, content: varint() })
      continue
    }
    const fixed = type === 1 ? 8 : 4
    const length = type === 2 ? Number(varint()) : fixed
    fields.push({ number: tag >> 3, content: message.subarray(at, at += length) })
  }
  return fields
}
