import { createError, type FastifyError } from '@fastify/error'

/**
 * Like `createError`, for errors that stop a start, which a developer reads. Those of requests do not name their page:
 * clients cannot open it, and every word costs an agent tokens.
 *
 * Its type has no name, which the declarations of the packages would import from here.
 *
 * @param name - of the package
 * @returns constructors of errors with `see`, which says where to read what to do:
 *   `dual-auth/docs/errors.md#dual_auth_invalid_option`, in the folder of the package. A terminal prints it below the
 *   stack
 */
export function startupErrorsOf (
  name: string
): <A extends unknown[] = [any?, any?, any?]>(
  code: string,
  message: string
) => new(...values: A) => FastifyError & { readonly see: string } {
  return <A extends unknown[]>(code: string, message: string) =>
    class extends createError<A>(code, message, 500) {
      readonly see = `${name}/docs/errors.md#${code.toLowerCase()}`

      constructor (...values: A) {
        super(...values)
        Error.captureStackTrace(this, new.target)
      }
    }
}
