import type { FastifyInstance } from 'fastify'

/**
 * Makes a scope independent of the host's compilers, which may take schemas of another language only (zod, say). The
 * schemas of this scope describe it for readers of the API: its input is ignored, and what it answers was built by
 * this package or checked when it was read.
 */
export function compileNothing (scope: FastifyInstance): void {
  scope.setValidatorCompiler(() => () => true)
  scope.setSerializerCompiler(() => data => JSON.stringify(data instanceof Error ? problemFromError(data) : data))
}

/** What Fastify hands over has the status text under `error`, and hides it and all else from JSON. */
function problemFromError (problem: Error & { statusCode?: number, code?: string, error?: string }): object {
  const { statusCode, code, error, message } = problem
  return { statusCode, code, error, message }
}
