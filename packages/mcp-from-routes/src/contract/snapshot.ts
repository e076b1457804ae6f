import { isTooDeep, MAX_DEPTH } from '../depth.ts'
import { isObject, type JsonSchema } from '../schema/json-schema.ts'
import { spelledForComparison } from '../schema/spelling.ts'
import type { ToolDefinition } from '../types.ts'
import type { Accepted } from './finding.ts'
import { bare, canonical } from './document.ts'
import { endpointsFromJson, type EndpointsByPath } from './endpoints.ts'
import { MCP_FROM_ROUTES_CONTRACT_UNREADABLE } from './errors.ts'
import { cardByName, KINDS, publishedByUri, publishedFromJson, type Kind, type PublishedByUri } from './published.ts'

/** A tool as agents see it. */
export interface ContractTool {
  readonly title?: string
  readonly description?: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  /**
   * What the route declares of its result, where that is more than `outputSchema` publishes: enums, formats, lengths.
   */
  readonly declaredOutput?: JsonSchema
  readonly annotations?: object
  readonly _meta?: Readonly<Record<string, unknown>>
  /** Arguments that some callers may leave out, because their credential implies them. */
  readonly implied?: readonly string[]
  /** The names that it had, by which it can be called too. */
  readonly formerly?: readonly string[]
  /** Present if it is deprecated. */
  readonly deprecated?: true
  /** What happens to calls that a person must confirm if the client cannot ask: `refuse`, `allow` or `token`. */
  readonly confirm?: string
  /** Whether a call may become a task. */
  readonly execution?: { readonly taskSupport?: string }
}

/** The tools of an app by name, its resources by URI, and its endpoints by path: what agents rely on. */
export interface Contract extends ReadonlyMap<string, ContractTool>, Partial<Readonly<Record<Kind, PublishedByUri>>> {
  /** Undefined if they are not known, as of a file that was written without them. */
  readonly endpoints?: EndpointsByPath | undefined
}

/** The version of the file's format. */
const FORMAT = 1
const WIDTH = 140
const ALL_KINDS = Object.keys(KINDS) as readonly Kind[]

/** What an app publishes beside its tools. */
export interface PublishedBeside {
  readonly resources?: ReadonlyArray<{ readonly uri: string }>
  readonly skills?: ReadonlyArray<{ readonly uri: string }>
  readonly card?: Readonly<Record<string, unknown>> & { readonly name: string }
}

/**
 * A contract that knows no endpoints; {@link contractFromApp} makes one that does.
 * @param tools - `app.mcpTools` of an app that is ready, and its `mcpSearchTools`
 * @param beside - its `mcpResources`, `mcpSkills` and `mcpCard`; default: none
 */
export function contractFromTools (
  tools: ReadonlyArray<
    ToolDefinition & {
      readonly route?: { readonly output?: JsonSchema | undefined, readonly whole?: JsonSchema | undefined }
    }
  >,
  { resources = [], skills = [], card }: PublishedBeside = {}
): Contract {
  const more: Readonly<Record<Kind, PublishedByUri>> = {
    resources: publishedByUri(resources),
    skills: publishedByUri(skills),
    cards: card === undefined ? new Map() : cardByName(card)
  }
  return withPublished(
    new Map(tools.map(({ name, route, ...tool }) => {
      checkedTool(tool, name, 'the list of tools')
      const declared = route?.output
      // Calls that pass no fields get all of what they got before the tool had that argument.
      const outputSchema = route?.whole ?? tool.outputSchema
      const isMore = declared !== undefined &&
        canonical(bare(spelledForComparison(declared))) !== canonical(bare(spelledForComparison(outputSchema ?? {})))
      return [name, { ...tool, ...outputSchema && { outputSchema }, ...isMore && { declaredOutput: declared } }]
    })),
    (kind) => more[kind]
  )
}

function withPublished (tools: ReadonlyMap<string, ContractTool>, read: (kind: Kind) => PublishedByUri): Contract {
  return Object.assign(tools, Object.fromEntries(ALL_KINDS.map((kind) => [kind, read(kind)])))
}

/**
 * The file: the same text for the same tools, sorted, each tool a block and short values on one line. A list in `type`
 * is written as `anyOf`.
 *
 * @param accepted - the findings that the file accepts; default: none
 */
export function textFromContract (contract: Contract, accepted: readonly Accepted[] = []): string {
  const tools = Object.fromEntries(
    [...contract].map(([name, { inputSchema, outputSchema, declaredOutput, ...tool }]) => [name, {
      ...tool,
      inputSchema: spelledForComparison(inputSchema),
      ...outputSchema && { outputSchema: spelledForComparison(outputSchema) },
      ...declaredOutput && { declaredOutput: spelledForComparison(declaredOutput) }
    }])
  )
  const more = ALL_KINDS.flatMap((kind) =>
    contract[kind] === undefined || contract[kind].size === 0 ? [] : [[kind, Object.fromEntries(contract[kind])]]
  )
  const endpoints = contract.endpoints && Object.fromEntries(contract.endpoints)
  return `${
    printed(
      JSON.parse(
        canonical({
          contract: FORMAT,
          ...accepted.length > 0 && { accepted },
          ...Object.fromEntries(more),
          endpoints,
          tools
        })
      ),
      0,
      0,
      3
    )
  }\n`
}

/**
 * @param file - named in errors
 * @throws {@link MCP_FROM_ROUTES_CONTRACT_UNREADABLE}
 */
export function contractFromText (text: string, file: string): Contract {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new MCP_FROM_ROUTES_CONTRACT_UNREADABLE(file, `it is not JSON: ${(error as Error).message}`)
  }
  if (isTooDeep(json)) {
    throw new MCP_FROM_ROUTES_CONTRACT_UNREADABLE(file, `it nests more than ${MAX_DEPTH} levels deep`)
  }
  if (!isObject(json) || !isObject(json.tools)) throw new MCP_FROM_ROUTES_CONTRACT_UNREADABLE(file, 'it has no "tools"')
  if (json.contract !== FORMAT) {
    throw new MCP_FROM_ROUTES_CONTRACT_UNREADABLE(
      file,
      `"contract" is ${JSON.stringify(json.contract)}, and this version of mcp-from-routes reads ${FORMAT}`
    )
  }
  const tools = new Map(Object.entries(json.tools).map(([name, tool]) => [name, checkedTool(tool, name, file)]))
  return Object.assign(withPublished(tools, (kind) => publishedFromJson(json[kind], kind, file)), {
    endpoints: endpointsFromJson(json.endpoints, file)
  })
}

function checkedTool (tool: unknown, name: string, file: string): ContractTool {
  if (!isObject(tool) || !isObject(tool.inputSchema)) {
    throw new MCP_FROM_ROUTES_CONTRACT_UNREADABLE(file, `the tool ${name} has no inputSchema`)
  }
  for (const part of ['outputSchema', 'declaredOutput']) {
    if (tool[part] !== undefined && !isObject(tool[part])) {
      throw new MCP_FROM_ROUTES_CONTRACT_UNREADABLE(file, `the ${part} of ${name} is not an object`)
    }
  }
  if (tool.formerly !== undefined && !isNames(tool.formerly)) {
    throw new MCP_FROM_ROUTES_CONTRACT_UNREADABLE(file, `formerly of ${name} is not an array of names`)
  }
  return tool as unknown as ContractTool
}

function isNames (value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string')
}

/** JSON in which what fits on a line stands on one, except for the outer levels. */
function printed (value: unknown, indent: number, before: number, outer: number): string {
  const short = oneLine(value)
  const isList = Array.isArray(value)
  if ((!isList && !isObject(value)) || short.length <= 2 || (outer <= 0 && indent + before + short.length < WIDTH)) {
    return short
  }
  const pad = ' '.repeat(indent + 2)
  const parts = Object.entries(value).map(([key, part]) => {
    const name = isList ? '' : `${JSON.stringify(key)}: `
    return `${pad}${name}${printed(part, indent + 2, name.length, outer - 1)}`
  })
  const [open, close] = isList ? '[]' : '{}'
  return `${open}\n${parts.join(',\n')}\n${' '.repeat(indent)}${close}`
}

function oneLine (value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const parts = Object.entries(value).map(([key, part]) => `${JSON.stringify(key)}: ${oneLine(part)}`)
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
}
