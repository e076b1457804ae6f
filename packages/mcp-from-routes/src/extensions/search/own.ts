import type { ToolDefinition } from '../../types.ts'
import { frozenCopy, type JsonSchema } from '../../schema/json-schema.ts'

export const SEARCH = 'search_tools'
export const DESCRIBE = 'describe_tools'
/** Calls tools that only read. A client may let it run without asking, so it must never call another. */
export const READER = 'call_reading_tool'
export const WRITER = 'call_writing_tool'

/** How long a query may be, in characters. */
export const MAX_QUERY = 500
/** How many tools one call describes. */
export const MAX_DESCRIBED = 10

const CALL: JsonSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', description: `The name of the tool, as ${SEARCH} returns it.` },
    arguments: { type: 'object', description: 'The arguments of that tool, in an object.', additionalProperties: true }
  },
  required: ['name'],
  additionalProperties: false
}

/** What clients list in place of all tools that a set with search has. */
export function searchTools (
  { opensWorld }: { readonly opensWorld: boolean }
): Readonly<Record<typeof SEARCH | typeof DESCRIBE | typeof READER | typeof WRITER, ToolDefinition>> {
  const looks = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
  return frozenCopy({
    [SEARCH]: {
      name: SEARCH,
      title: 'Search tools',
      description:
        'Search the tools of this server, most of which are not listed. Returns the best matches, each with its ' +
        `arguments, what it does, and whether it reads or writes. Call one with ${READER} or ${WRITER}.`,
      inputSchema: {
        type: 'object',
        properties: {
          query: {
            type: 'string',
            maxLength: MAX_QUERY,
            description: 'A few words, such as "create invoice", or the exact name of a tool.'
          }
        },
        required: ['query'],
        additionalProperties: false
      },
      annotations: looks
    },
    [DESCRIBE]: {
      name: DESCRIBE,
      title: 'Describe tools',
      description:
        'Get the full description of tools, with the JSON Schema of their arguments. Use it if the line from ' +
        `${SEARCH} does not say enough.`,
      inputSchema: {
        type: 'object',
        properties: {
          names: {
            type: 'array',
            items: { type: 'string' },
            minItems: 1,
            maxItems: MAX_DESCRIBED,
            description: `Names of tools, as ${SEARCH} returns them.`
          }
        },
        required: ['names'],
        additionalProperties: false
      },
      annotations: looks
    },
    [READER]: {
      name: READER,
      title: 'Call a tool that reads',
      description: `Call a tool that ${SEARCH} says reads. It changes nothing.`,
      inputSchema: CALL,
      annotations: { ...looks, openWorldHint: opensWorld }
    },
    [WRITER]: {
      name: WRITER,
      title: 'Call a tool that writes',
      description: `Call a tool that ${SEARCH} says writes. It may change or delete what the server keeps.`,
      inputSchema: CALL,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: opensWorld }
    }
  })
}
