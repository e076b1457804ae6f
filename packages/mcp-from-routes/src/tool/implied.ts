import type { FastifyRequest } from 'fastify'
import type { McpTool } from '../types.ts'
import type { ToolInput } from './input.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { withoutHeaders } from './mirrored.ts'

/** Returns the value of an argument for the caller of a request; undefined if nothing implies it. */
export type ImpliedArgument = (request: FastifyRequest, tool: McpTool) => string | number | boolean | undefined

/** By the names of arguments. */
export type ImpliedArguments = Readonly<Record<string, ImpliedArgument>>

/**
 * Those of the names that can be implied for a tool. Left out, an optional argument has a meaning already, and a body
 * is what the caller wants to write, so neither is filled in.
 */
export function impliableArguments ({ schema, places }: ToolInput, names: readonly string[]): readonly string[] {
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  return names.filter((name) => required.has(name) && places.get(name) !== 'body')
}

/** The arguments of a tool that the request implies. */
export function impliedValues (
  { public: tool }: { readonly public: McpTool },
  request: FastifyRequest,
  implied: ImpliedArguments
): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = {}
  for (const name of tool.implied ?? []) {
    const value: unknown = implied[name]?.(request, tool)
    // The function may be JavaScript: a promise or null is no value.
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') values[name] = value
  }
  return values
}

/** Shows tools to one caller: arguments that are implied for it are optional, and it repeats none of
 * them in a header. Each form of a tool is made once. */
export function impliedShower<Tool extends { readonly public: McpTool }> (
  implied: ImpliedArguments
): (tool: Tool, request: FastifyRequest) => Tool {
  const made = new WeakMap<Tool, Map<string, Tool>>()
  return (tool, request) => {
    const names = Object.keys(impliedValues(tool, request, implied))
    if (names.length === 0) return tool
    const forms = made.get(tool) ?? new Map<string, Tool>()
    made.set(tool, forms)
    const key = names.join('\n')
    const form = forms.get(key) ??
      {
        ...tool,
        public: Object.freeze({
          ...tool.public,
          inputSchema: withOptional(withoutHeaders(tool.public.inputSchema, names), names)
        })
      }
    forms.set(key, form)
    return form
  }
}

function withOptional ({ required, minProperties, ...schema }: JsonSchema, names: readonly string[]): JsonSchema {
  const left = (required as readonly string[]).filter((name) => !names.includes(name))
  return {
    ...schema,
    ...left.length > 0 && { required: left },
    // minProperties counts implied arguments.
    ...minProperties !== undefined && { minProperties: Number(minProperties) - names.length }
  }
}
