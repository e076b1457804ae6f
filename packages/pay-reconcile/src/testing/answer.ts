import { randomUUID } from 'node:crypto'
import type { Form } from './form.ts'

/** A request as the endpoints of the stand-in see it. */
export interface StandInRequest {
  readonly method: string
  /** Path segments after `/v1`. */
  readonly path: readonly string[]
  readonly form: Form
  readonly idempotencyKey: string | undefined
  /** Where the stand-in listens, for links in answers. */
  readonly origin: string
}

export interface StandInAnswer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export function ok (body: unknown): StandInAnswer {
  return { status: 200, body }
}

/** An error in the provider's shape. */
export function refusal (status: number, type: string, message: string, code?: string): StandInAnswer {
  return { status, body: { error: { type, message, ...(code !== undefined && { code }) } } }
}

export function missing (kind: string, id: string): StandInAnswer {
  return refusal(404, 'invalid_request_error', `No such ${kind}: '${id}'`, 'resource_missing')
}

export function newId (prefix: string): string {
  return `${prefix}_${randomUUID().replaceAll('-', '').slice(0, 24)}`
}

export function seconds (): number {
  return Math.floor(Date.now() / 1000)
}
