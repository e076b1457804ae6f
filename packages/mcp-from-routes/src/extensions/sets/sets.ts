import { withoutSlash } from '../../checks.ts'
import { MCP_FROM_ROUTES_INVALID_OPTION } from '../../errors.ts'
import type { Settings } from '../../settings.ts'
import type { Resource } from '../resources/resources.ts'
import { DESCRIBE, READER, SEARCH, searchTools, WRITER } from '../search/own.ts'
import type { ListedTool, Tool } from '../../tool/tool.ts'

/** A subset of the tools and resources, empty until the application is ready. */
export interface FilledSet {
  readonly path: string
  readonly tools: () => ReadonlyMap<string, Tool>
  readonly resources: () => readonly Resource[]
  /** Whether its tools are found by a search. */
  readonly isSearched: boolean
  /** @throws {@link MCP_FROM_ROUTES_INVALID_OPTION} when none of the tools has one of its tags */
  readonly fill: (all: ReadonlyMap<string, Tool>, resources: readonly Resource[]) => void
}

/** The subsets that the option `sets` describes. */
export function toolSets ({ sets }: Pick<Settings, 'sets'>): readonly FilledSet[] {
  return sets.map(({ option, path, tags, search }) => {
    let tools: ReadonlyMap<string, Tool> = new Map()
    let resources: readonly Resource[] = []
    const isIn = (tool: Tool): boolean => tags === undefined || tags.some((tag) => tool.public.route.tags.includes(tag))
    return {
      path: withoutSlash(path),
      tools: () => tools,
      resources: () => resources,
      isSearched: search,
      fill (all, allResources) {
        const missing = tags?.find((tag) => ![...all.values()].some((tool) => tool.public.route.tags.includes(tag)))
        if (missing !== undefined) {
          throw new MCP_FROM_ROUTES_INVALID_OPTION(`${option}.tags`, `has "${missing}", a tag that no tool has`)
        }
        tools = new Map([...all].filter(([, tool]) => isIn(tool)))
        const views = new Set([...tools.values()].map(({ ui }) => ui?.resourceUri))
        resources = allResources.filter((one) => isIn(one) || views.has(one.resource.definition.uri))
      }
    }
  })
}

/**
 * The tools that stand for those of the sets with search, by name, in the order of their names. Empty without such a
 * set.
 * @param all - every tool of the application: a name means one thing in all sets, and in the contract
 * @throws {@link MCP_FROM_ROUTES_INVALID_OPTION} when a route has one of their names
 */
export function searchToolsOf (
  sets: readonly FilledSet[],
  all: ReadonlyMap<string, Tool>
): ReadonlyMap<string, ListedTool> {
  const searched = sets.filter(({ isSearched }) => isSearched).flatMap(({ tools }) => [...tools().values()])
  if (!sets.some(({ isSearched }) => isSearched)) return new Map()
  const taken = OWN_NAMES.map((name) => all.get(name)).find((tool) => tool !== undefined)
  if (taken !== undefined) {
    const { name, route: { method, url } } = taken.public
    throw new MCP_FROM_ROUTES_INVALID_OPTION(
      'search',
      `needs the name ${name}, which ${method} ${url} has. Give that route another operationId`
    )
  }
  const definitions = searchTools({
    opensWorld: searched.some(({ public: { annotations } }) => annotations.openWorldHint)
  })
  return new Map(OWN_NAMES.map((name) => [name, { public: definitions[name], mirrored: [] }]))
}

/** In the order of lists. */
const OWN_NAMES = [READER, WRITER, DESCRIBE, SEARCH] as const
