import { PUBLISHED } from '../published.ts'
import type { ToolDefinition } from '../types.ts'
import type { EndpointsByPath } from './endpoints.ts'
import { cardByName, type Published } from './published.ts'
import { contractFromTools, type Contract } from './snapshot.ts'

/** What an app publishes. */
interface AppPublished {
  readonly tools: readonly ToolDefinition[]
  readonly endpoints: EndpointsByPath
  readonly cards?: ReadonlyMap<string, Published>
  readonly skills?: ReadonlyMap<string, Published>
  readonly resources?: ReadonlyMap<string, Published>
}

/**
 * The contract of an app that is ready: its tools, its endpoints, and what its extensions publish.
 * @returns undefined for an app without the plugin
 */
export function contractFromApp (app: object): Contract | undefined {
  const published = Reflect.get(app, PUBLISHED) as AppPublished | undefined
  if (published === undefined) return undefined
  const { tools, endpoints, cards, skills, resources } = published
  const [card] = cards?.values() ?? []
  return Object.assign(contractFromTools(tools), {
    endpoints,
    resources: resources ?? new Map(),
    skills: skills ?? new Map(),
    cards: card === undefined ? new Map() : cardByName(card as Published & { readonly name: string })
  })
}
