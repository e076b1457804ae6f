import { randomUUID } from 'node:crypto'

/** A request as the endpoints of the stand-in see it. */
export interface StandInRequest {
  readonly method: string
  /** Path segments after `/v1`. */
  readonly path: readonly string[]
  readonly form: Form
  readonly idempotencyKey: string | undefined
  /** The secret key with most of it hidden, for errors. */
  readonly keyEnd: string
  /** URL of the stand-in, for links in responses. */
  readonly origin: string
}

export interface StandInResponse {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Any object of the provider. */
export type StandInObject = Readonly<Record<string, unknown>> & { readonly id: string }

export function ok (body: unknown): StandInResponse {
  return { status: 200, body }
}

interface RefusalDetails {
  /** Default `invalid_request_error`. */
  readonly type?: string
  readonly code?: string
  /** The wrong parameter as it was sent: `created[gte]`. */
  readonly param?: string
}

/** An error in the provider's format. */
export function refusal (
  status: number,
  message: string,
  { type = 'invalid_request_error', code, param }: RefusalDetails = {}
): StandInResponse {
  const docs = code !== undefined &&
    { code, doc_url: `https://stripe.com/docs/error-codes/${code.replaceAll('_', '-')}` }
  return { status, body: { error: { type, message, ...docs, ...(param !== undefined && { param }) } } }
}

/** @param param - the parameter that names the object. Default: the id in the path. */
export function missing (kind: string, id: string, param = 'id'): StandInResponse {
  return refusal(param === 'id' ? 404 : 400, `No such ${kind}: '${id}'`, { code: 'resource_missing', param })
}

/** Fields that are always null, from their names. */
export function nulls (names: string): Readonly<Record<string, null>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, null]))
}

export function newId (prefix: string): string {
  return `${prefix}_${randomUUID().replaceAll('-', '').slice(0, 24)}`
}

export function seconds (): number {
  return Math.floor(Date.now() / 1000)
}

/** A value of a form: a string, or named values. */
type FormValue = string | Form
export interface Form {
  readonly [name: string]: FormValue
}

/** Reads `a=1&metadata[b]=2&items[0][c]=3&expand[]=d` as nested objects; list indexes become names. */
export function formFrom (text: string): Form {
  const form: Record<string, FormValue> = Object.create(null)
  for (const [path, value] of new URLSearchParams(text)) {
    const [first = '', ...inner] = path.split('[')
    const names = [first, ...inner.map((name) => name.replace(/\]$/, ''))]
    if (first === '') continue
    let target: Record<string, FormValue> = form
    names.forEach((given, index) => {
      const name = given === '' ? String(Object.keys(target).length) : given
      if (index === names.length - 1) {
        target[name] = value
        return
      }
      const known = target[name]
      const next: Record<string, FormValue> = typeof known === 'object'
        ? known as Record<string, FormValue>
        : Object.create(null)
      target[name] = next
      target = next
    })
  }
  return form
}

/** The strings of these parameters; null for those that were not sent. */
export function stringsOrNull (form: Form, names: readonly string[]): Readonly<Record<string, string | null>> {
  return Object.fromEntries(names.map((name) => [name, stringIn(form, name) ?? null]))
}

export function stringIn (form: Form, name: string): string | undefined {
  const value = form[name]
  return typeof value === 'string' ? value : undefined
}

/** The strings under a name: `{ a: '1' }` from `metadata[a]=1`. */
export function stringsIn (form: Form, name: string): Readonly<Record<string, string>> {
  const value = form[name]
  if (typeof value !== 'object') return {}
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  )
}
