import type { CallToolResult, Tool } from '@modelcontextprotocol/client'
import { attempt } from '../attempt.ts'
import { saysUnpromised } from '../call/result.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import {
  MCP_FROM_ROUTES_TESTING_ARGUMENTS,
  MCP_FROM_ROUTES_TESTING_RESULT,
  MCP_FROM_ROUTES_TESTING_UNLISTED
} from './errors.ts'
import type { Mismatch } from './sdk.ts'

/**
 * What a client that checks calls refuses to send.
 *
 * @throws {@link MCP_FROM_ROUTES_TESTING_UNLISTED}, {@link MCP_FROM_ROUTES_TESTING_ARGUMENTS}
 */
export function checkCall (
  name: string,
  args: Readonly<Record<string, unknown>>,
  tools: readonly Tool[],
  mismatch: Mismatch
): void {
  const tool = tools.find((one) => one.name === name)
  if (tool === undefined) {
    const names = tools.map((one) => one.name).join(', ')
    throw new MCP_FROM_ROUTES_TESTING_UNLISTED(name, names === '' ? 'no tools' : names)
  }
  const why = mismatch(tool.inputSchema, args)
  if (why !== undefined) throw new MCP_FROM_ROUTES_TESTING_ARGUMENTS(name, why, shown(args))
}

/**
 * What a client refuses to show its model. The SDK checks the output schema too, but its error does not say what the
 * result was.
 *
 * @param declared - the schema that the tool's route declares for the response itself
 * @throws {@link MCP_FROM_ROUTES_TESTING_RESULT}
 */
export function checkResult (
  { name, outputSchema }: Tool,
  { isError, structuredContent, content }: CallToolResult,
  declared: JsonSchema | undefined,
  mismatch: Mismatch
): void {
  const [said, response] = content.map((block) => block.type === 'text' ? block.text : '')
  if (isError && said !== undefined && saysUnpromised(said)) {
    const value: unknown = attempt(() => JSON.parse(response ?? ''))
    const why = value === undefined || declared === undefined ? undefined : mismatch(declared, value)
    throw new MCP_FROM_ROUTES_TESTING_RESULT(
      name,
      why ?? said,
      value === undefined ? cut(response ?? '') : shown(value)
    )
  }
  if (isError || outputSchema === undefined) return
  const why = structuredContent === undefined ? 'there is none' : mismatch(outputSchema, structuredContent)
  if (why !== undefined) throw new MCP_FROM_ROUTES_TESTING_RESULT(name, why, shown(structuredContent))
}

/** How much of arguments and results errors show, in characters. */
const SHOWN = 2000

function shown (value: unknown): string {
  return cut(JSON.stringify(value) ?? 'missing')
}

function cut (text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}
