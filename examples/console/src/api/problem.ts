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
  readonly body: { readonly errors?: FieldErrors }

  constructor (status: number, problem: Partial<Problem>, requestId?: string) {
    super(messageOf(status, problem, requestId))
    this.name = 'ApiError'
    this.status = status
    this.problem = problem
    this.requestId = requestId
    this.body = [409, 422].includes(status) && problem.field !== undefined ? { errors: errorsAt(problem.field, this.message) } : {}
  }
}

/** A tree of messages, as the fields of a form are. */
export interface FieldErrors { readonly [field: string]: string | FieldErrors }

/** `attributes/0/value` is `{ attributes: { 0: { value: message } } }`. */
export function errorsAt (path: string, message: string): FieldErrors {
  return path.split('/').filter((part) => part !== '').reduceRight<string | FieldErrors>((inner, part) => ({ [part]: inner }), message) as FieldErrors
}

/** The message, and the id under which the log has the request. */
function messageOf (status: number, { message = `Status ${status}` }: Partial<Problem>, requestId: string | undefined): string {
  return requestId === undefined ? message : `${message.replace(/\.$/, '')} (request ${requestId})`
}
