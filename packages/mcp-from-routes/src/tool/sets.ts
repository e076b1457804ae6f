import { MCP_FROM_ROUTES_INVALID_OPTION } from '../errors.ts'
import type { Settings } from '../options.ts'
import type { Resource } from '../resource/resources.ts'
import type { Tool } from './tool.ts'

/** A subset of the tools and resources, empty until the application is ready. */
export interface FilledSet {
  readonly path: string
  readonly tools: () => ReadonlyMap<string, Tool>
  readonly resources: () => readonly Resource[]
  /** @throws {@link MCP_FROM_ROUTES_INVALID_OPTION} when none of the tools has one of its tags */
  readonly fill: (all: ReadonlyMap<string, Tool>, resources: readonly Resource[]) => void
}

/** The subsets that the option `sets` describes. */
export function toolSets ({ sets }: Pick<Settings, 'sets'>): readonly FilledSet[] {
  return Object.entries(sets).map(([name, { path, tags }]) => {
    let tools: ReadonlyMap<string, Tool> = new Map()
    let resources: readonly Resource[] = []
    const isIn = (tool: Tool): boolean => tags.some((tag) => tool.public.route.tags.includes(tag))
    return {
      path,
      tools: () => tools,
      resources: () => resources,
      fill (all, allResources) {
        const missing = tags.find((tag) => ![...all.values()].some((tool) => tool.public.route.tags.includes(tag)))
        if (missing !== undefined) throw new MCP_FROM_ROUTES_INVALID_OPTION(`sets.${name}.tags`, `has "${missing}", a tag that no tool has`)
        tools = new Map([...all].filter(([, tool]) => isIn(tool)))
        const views = new Set([...tools.values()].map(({ ui }) => ui?.resourceUri))
        resources = allResources.filter((one) => isIn(one) || views.has(one.resource.definition.uri))
      }
    }
  })
}
