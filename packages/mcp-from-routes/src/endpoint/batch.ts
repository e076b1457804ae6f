import { isObject } from '../tool/json-schema.ts'

/** The revision that took batches out of the protocol. */
const WITHOUT_BATCHES = '2025-06-18'

/**
 * Why an array of messages is not answered. One request of HTTP, which is what a host counts and limits, must not be
 * many calls of tools.
 * @param version - the header `mcp-protocol-version`
 * @returns undefined when the SDK may answer it
 */
export function batchRefusal (messages: readonly unknown[], version: string | undefined): string | undefined {
  if (version !== undefined && version >= WITHOUT_BATCHES) return `Invalid Request: revision ${WITHOUT_BATCHES} and later have no batches`
  const tools = messages.filter((message) => isObject(message) && typeof message.method === 'string' && message.method.startsWith('tools/'))
  return tools.length > 1 ? 'Invalid Request: a batch may hold one request for tools' : undefined
}
