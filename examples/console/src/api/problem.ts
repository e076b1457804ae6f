import { texts } from '../texts.ts'
import { type Outcome, withAdvice } from './outcome.ts'

/** The body of every error of the server. */
export interface Problem {
  readonly statusCode: number
  readonly code: string
  readonly message: string
  /** The input that the error is about, as a path: `name`, `attributes/0/value`. */
  readonly field?: string
  readonly [more: string]: unknown
}

/** An error of the server, or of the way to it. react-admin shows its message, and `body.errors` at their fields. */
export class ApiError extends Error {
  readonly status: number
  readonly problem: Partial<Problem>
  readonly requestId: string | undefined
  /** What became of the write; of a read, `refused`. */
  readonly outcome: Outcome
  readonly body: { readonly errors?: FieldErrors }
  /** The message for the field that it is about, if any. */
  readonly atField: string | undefined

  constructor (status: number, problem: Partial<Problem>, requestId?: string, outcome: Outcome = 'refused') {
    super(withAdvice(messageOf(status, problem, requestId), outcome))
    this.name = 'ApiError'
    this.status = status
    this.problem = problem
    this.requestId = requestId
    this.outcome = outcome
    this.atField = problem.field === undefined ? undefined : sentenceAt(problem.field, problem.message ?? this.message)
    this.body = [409, 422].includes(status) && problem.field !== undefined
      ? { errors: errorsAt(problem.field, this.atField!) }
      : {}
  }
}

/**
 * The part of a text about an error that the server said: all that it said, or what it said of the field, whose name is
 * in words.
 *
 * @returns undefined if all of the text is the console's own
 */
export function saidIn (text: string, error: Error): string | undefined {
  if (!(error instanceof ApiError)) return error.cause instanceof Error ? saidIn(text, error.cause) : undefined
  const { code, field = '', message = '' } = error.problem
  // The console makes errors too, without a code.
  if (code === undefined) return undefined
  const said = message.replace(/\.$/, '')
  return [said, said.startsWith(`${field} `) ? said.slice(field.length + 1) : ''].find((part) =>
    part !== '' && text.includes(part)
  )
}

/** Whether a write that has failed may have been done, or is. */
export function mayBeDone (error: unknown): boolean {
  return error instanceof ApiError && ['open', 'late', 'done'].includes(error.outcome)
}

/**
 * What the server says about a field, with the field's name in words: `price_amount must be a whole number, not text`
 * is `Price must be a number such as 12.50`.
 */
function sentenceAt (field: string, message: string): string {
  if (!message.startsWith(`${field} `)) return message
  const name = field.split('/').findLast((part) => /\D/.test(part)) ?? field
  const [label] = Object.values(texts.names).flatMap(({ fields }) =>
    (fields as Readonly<Record<string, string>>)[name] ?? []
  )
  const words = label ?? (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll('_', ' ')
  const rest = message.slice(field.length + 1)
  return rest.startsWith('must be a number') || (name.endsWith('amount') && rest.startsWith('must be a whole number'))
    ? texts.errors.number(words)
    : texts.errors.ofField(words, rest)
}

/** A tree of messages, as the fields of a form are. */
export interface FieldErrors {
  readonly [field: string]: string | FieldErrors
}

/** `attributes/0/value` is `{ attributes: { 0: { value: message } } }`. */
export function errorsAt (path: string, message: string): FieldErrors {
  return path.split('/').filter((part) => part !== '').reduceRight<string | FieldErrors>(
    (inner, part) => ({ [part]: inner }),
    message
  ) as FieldErrors
}

/** What the server says of a record that is not there, by its id. */
const GONE = /^No ([a-z ]+) [0-9a-f]{8}-[0-9a-f-]{27}$/

/** The message, and the id under which the log has the request. */
function messageOf (
  status: number,
  { message = texts.errors.status(status) }: Partial<Problem>,
  requestId: string | undefined
): string {
  if (status === 412) return texts.errors.changed
  const [, kind] = status === 404 ? GONE.exec(message) ?? [] : []
  if (kind !== undefined) return texts.errors.gone(texts.activity.kinds[kind.replaceAll(' ', '_')] ?? kind)
  return requestId === undefined ? message : texts.errors.withRequest(message.replace(/\.$/, ''), requestId)
}
