import type { Tool } from '@modelcontextprotocol/client'
import { MCP_FROM_ROUTES_CASES_FILE } from '../errors.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { Mismatch } from '../sdk.ts'
import type { WholeCase } from './case.ts'
import { placeOf } from './file.ts'
import { isNamed } from './judge.ts'

/** What a case is checked by. */
interface Known {
  /** What this caller's model is shown. */
  readonly listed: readonly Tool[]
  /** The names of all tools of the app. */
  readonly names: readonly string[]
  readonly mismatch: Mismatch
}

/**
 * Checks a case before a model is asked: with a misspelt name, it could not pass, or not fail.
 *
 * @param file - named in errors
 * @throws {@link MCP_FROM_ROUTES_CASES_FILE}
 */
export function checkKnown (one: WholeCase, index: number, file: string, { listed, names, mismatch }: Known): void {
  const wrong = (where: string, what: string): Error =>
    new MCP_FROM_ROUTES_CASES_FILE(file, `${placeOf(one, index)}: ${where} ${what}`)
  for (const [at, { tool: name, arguments: args = {}, schema = {} }] of one.calls.entries()) {
    const tool = listed.find((tool) => tool.name === name)
    if (tool === undefined) {
      throw wrong(
        `calls[${at}].tool`,
        `names ${name}, which this caller's model is not shown. It is shown ${
          listed.map((tool) => tool.name).join(', ') || 'no tools'
        }`
      )
    }
    const taken = argumentsOf(tool)
    for (const [part, names] of [['arguments', Object.keys(args)], ['schema', namesIn(schema)]] as const) {
      const unknown = names.find((key) => !taken.has(key))
      if (!taken.isOpen && unknown !== undefined) {
        throw wrong(`calls[${at}].${part}`, `has ${unknown}, which ${name} does not take`)
      }
    }
    for (const [key, value] of Object.entries(args)) {
      const why = taken.has(key) ? mismatch(taken.schemaOf(key), value) : undefined
      if (why !== undefined) throw wrong(`calls[${at}].arguments.${key}`, `is not what ${name} takes: ${why}`)
    }
    try {
      mismatch(schema, {})
    } catch (error) {
      throw wrong(`calls[${at}].schema`, `cannot be used: ${(error as Error).message}`)
    }
  }
  const useless = one.never.find((pattern) => !names.some((name) => isNamed(name, pattern)))
  if (useless !== undefined) throw wrong('never', `has ${useless}, but no tool has such a name`)
}

/** The arguments of a tool, by name. */
function argumentsOf ({ inputSchema }: Tool) {
  const { properties = {}, patternProperties, additionalProperties, $defs } = inputSchema
  return {
    isOpen: additionalProperties !== false || patternProperties !== undefined,
    has: (name: string): boolean => Object.hasOwn(properties, name),
    schemaOf: (name: string): JsonSchema => ({ ...properties[name] as JsonSchema, ...$defs !== undefined && { $defs } })
  }
}

/** The arguments that a schema of a case names. One that no call has would fit whatever the model does. */
function namesIn ({ properties, required }: JsonSchema): readonly string[] {
  return [...Object.keys(Object(properties)), ...Array.isArray(required) ? required.map(String) : []]
}
