import type { FastifyInstance } from 'fastify'

/**
 * Makes a scope independent of the host's compilers, which may accept only schemas of another language, such as zod's.
 * The schemas of this scope document it: its input is ignored, and what it sends was built by this package or checked
 * when it was read.
 */
export function compileNothing (scope: FastifyInstance): void {
  scope.setValidatorCompiler(() => () => true)
  scope.setSerializerCompiler(() => (data) => JSON.stringify(data instanceof Error ? problemFromError(data) : data))
}

/** Fastify passes the error itself, with the status text under `error`; most of its members are not enumerable. */
function problemFromError (problem: Error & { statusCode?: number, code?: string, error?: string }): object {
  const { statusCode, code, error, message } = problem
  return { statusCode, code, error, message }
}
