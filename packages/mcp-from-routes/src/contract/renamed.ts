import { canonical } from './document.ts'
import type { EndpointsByPath, Held } from './endpoints.ts'
import type { Published, PublishedByUri } from './published.ts'
import type { Part } from './schemas.ts'
import type { Contract, ContractTool } from './snapshot.ts'

/*
 * Tools that go on under another name. A call by the old one works as long as a tool says that it was called so.
 */

/** What answers a call by a name: the tool that has it, or that had it. By every such name. */
export type Answering = ReadonlyMap<string, string>

export function answeringIn (contract: Contract): Answering {
  const former = [...contract].flatMap(([name, { formerly = [] }]) => formerly.map((old) => [old, name] as const))
  return new Map([...former, ...[...contract.keys()].map((name) => [name, name] as const)])
}

/** What became of the former names of a tool. @param heir - the name of the tool now */
export function formerFindings (
  name: string,
  heir: string,
  { formerly: old = [] }: ContractTool,
  { formerly: now = [] }: ContractTool,
  [was, is]: readonly [Answering, Answering]
): readonly Part[] {
  const found = (bump: Part['bump'], former: string, change: string, why: string): Part => ({
    bump,
    path: `formerly.${former}`,
    change,
    why,
    certain: true
  })
  return [
    ...old.filter((former) => is.get(former) !== heir).map((former) => {
      const other = is.get(former)
      return other === undefined
        ? found('major', former, 'old name → removed', 'callers that still use it fail')
        : found('major', former, `old name → that of ${other}`, 'callers that still use it call another tool')
    }),
    // Those that a tool had already are told of that tool.
    ...now.filter((former) => !was.has(former) && former !== name).map((former) =>
      found('minor', former, 'none → old name', 'callers that know the tool by it find it')
    )
  ]
}

/**
 * A name that stays, and now seems to be that of another tool: what it did is done by one that did something else, or
 * was not there.
 */
export function takenFindings (name: string, before: Contract, after: Contract): readonly Part[] {
  const old = before.get(name)
  const now = after.get(name)
  if (old?.description === undefined || now === undefined || isAlike(old, now)) return []
  const other = [...after].find(([other, tool]) => {
    const earlier = before.get(other)
    return other !== name && isAlike(old, tool) && (earlier === undefined || !isAlike(earlier, tool))
  })
  if (other === undefined) return []
  return [{
    bump: 'major',
    path: '',
    change: `tool → another tool; what it did is done by ${other[0]}`,
    why: 'callers that use it by name would do something else',
    certain: false
  }]
}

/** Whether two tools say the same of themselves. */
function isAlike (a: ContractTool, b: ContractTool): boolean {
  return a.description === b.description && canonical(a.inputSchema) === canonical(b.inputSchema)
}

/** A contract, as far as its endpoints are concerned, with its tools under the names that they have now. */
export function inLaterNames (contract: Named, is: Answering): Named {
  const { endpoints, skills } = contract
  const later = (name: unknown): string => is.get(String(name)) ?? String(name)
  const held = (tools: Held): Held => tools === 'all' ? tools : [...new Set(tools.map(later))].sort()
  return {
    keys: () => new Set([...contract.keys()].map(later)),
    endpoints: endpoints && new Map([...endpoints].map(([path, { tools, finds }]) => [
      path,
      { tools: held(tools), ...finds !== undefined && { finds: held(finds) } }
    ])),
    ...skills && {
      skills: new Map([...skills].map(([uri, skill]): [string, Published] => [
        uri,
        { ...skill, ...Array.isArray(skill.calls) && { calls: skill.calls.map(later) } }
      ]))
    }
  }
}

interface Named {
  readonly endpoints?: EndpointsByPath | undefined
  readonly skills?: PublishedByUri
  readonly keys: () => Iterable<string>
}
