import type { ToolAnnotations } from '../types.ts'

/**
 * The hints of a tool, by the method of its route: GET is read-only, POST only adds, every other method can destroy.
 * @param given - `config.mcp.annotations`, which wins
 */
export function annotationsOf (method: string, given: Partial<ToolAnnotations> = {}): ToolAnnotations {
  const reads = method === 'GET' || method === 'QUERY'
  const { readOnlyHint = reads } = given
  return {
    readOnlyHint,
    destructiveHint: !readOnlyHint && method !== 'POST',
    idempotentHint: reads || method === 'PUT' || method === 'DELETE',
    openWorldHint: false,
    ...given
  }
}
