import { createError, type FastifyError } from '@fastify/error'

/** An error that stops a start. A terminal prints its fields below its stack. */
export interface StartupError extends FastifyError {
  /** Where it says what to do: `dual-auth/docs/errors.md#dual_auth_invalid_option`, in the folder of the package. */
  readonly see: string
}

export interface StartupErrorConstructor<A extends readonly unknown[]> {
  new(...values: A): StartupError
  readonly prototype: StartupError
}

/**
 * Like `createError`, for errors that stop a start, which a developer reads. Those of requests do not name their page:
 * clients cannot open it, and every word costs an agent tokens.
 *
 * @param name - of the package
 */
export function startupErrorsOf (
  name: string
): <A extends unknown[] = [any?, any?, any?]>(code: string, message: string) => StartupErrorConstructor<A> {
  return <A extends unknown[]>(code: string, message: string) =>
    class extends createError<A>(code, message, 500) {
      readonly see = `${name}/docs/errors.md#${code.toLowerCase()}`

      constructor (...values: A) {
        super(...values)
        Error.captureStackTrace(this, new.target)
      }
    }
}
