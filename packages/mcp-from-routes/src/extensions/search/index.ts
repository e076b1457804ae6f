import type { Table } from '#shared/option-table'
import { check, PATH, settingsBy, TAGS } from '../../checks.ts'
import type { Extension } from '../../extension.ts'
import type { ListedTool, Tool } from '../../model.ts'
import type { ToolDefinition } from '../../types.ts'
import { checkTags, hasOneOf } from '../tags.ts'
import { DESCRIBE, READER, SEARCH, searchTools, WRITER } from './own.ts'
import { searchOf } from './search.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The tools by which clients find the others, sorted by name and frozen. Empty until the application is ready. */
    readonly mcpSearchTools: readonly ToolDefinition[]
  }
}

/** An endpoint whose clients search. */
export interface SearchEndpoint {
  /** Its path; it answers with and without a slash at the end. */
  readonly path: string
  /** The tools that are found have at least one of these in `schema.tags`. Default is all tools. */
  readonly tags?: readonly string[]
}

const TABLE: Table<SearchEndpoint> = {
  path: { ...PATH, required: true },
  tags: TAGS
}

/**
 * Serves tools that clients find by words, in place of a list of all: they list `search_tools`, `describe_tools`, and a
 * caller each for tools that read and tools that write. For more tools than a model can read, and for clients that do
 * not load tools on demand by themselves.
 *
 * @param endpoints - one or several: `search({ path: '/mcp/search' })`
 * @returns for the option `extensions`
 */
export function search (...endpoints: readonly SearchEndpoint[]): Extension {
  return {
    name: 'mcp-from-routes/search',
    keys: [],
    install ({ app, settings, mount }) {
      check(endpoints.length > 0, 'search', 'takes { path } and maybe tags, or several of them')
      for (const endpoint of endpoints) settingsBy(TABLE, endpoint, 'search')
      let own: ReadonlyMap<string, ListedTool> = new Map()
      let list: readonly ToolDefinition[] = Object.freeze([])
      app.decorate('mcpSearchTools', { getter: () => list })
      const mounted = endpoints.map(({ path, tags }) =>
        mount(path, 'search', tags && hasOneOf(tags), (endpoint) => searchOf(endpoint, () => own, settings))
      )
      return {
        ready ({ tools, former }) {
          for (const { tags } of endpoints) checkTags(tags, tools, 'search.tags')
          const names = new Map([...former, ...tools])
          own = searchToolsOf(mounted.flatMap((endpoint) => [...endpoint.tools().values()]), names)
          list = Object.freeze([...own.values()].map((tool) => tool.public))
        },
        contract: () => ({ tools: list })
      }
    }
  }
}

/**
 * The tools that stand for those that are searched, by name, in the order of their names.
 * @param all - every tool of the application, by the names that it has or had: a name means one thing in all endpoints,
 *   and in the contract
 * @throws {@link MCP_FROM_ROUTES_INVALID_OPTION} when a route has one of their names
 */
function searchToolsOf (
  searched: readonly Tool[],
  all: ReadonlyMap<string, Tool>
): ReadonlyMap<string, ListedTool> {
  for (const name of OWN_NAMES) {
    const taken = all.get(name)
    const remedy = taken?.public.name === name ? 'Give that route another operationId' : 'Take it out of its formerly'
    check(taken === undefined, 'search', `needs the name ${name}, which ${taken?.label} has. ${remedy}`)
  }
  const definitions = searchTools({
    opensWorld: searched.some(({ public: { annotations } }) => annotations.openWorldHint)
  })
  return new Map(OWN_NAMES.map((name) => [name, { public: definitions[name], mirrored: [] }]))
}

/** In the order of lists. */
const OWN_NAMES = [READER, WRITER, DESCRIBE, SEARCH] as const
