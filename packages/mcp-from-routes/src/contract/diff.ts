import { DEPRECATED } from '../tool/tags.ts'
import { compareBeside } from './beside.ts'
import { canonical } from './document.ts'
import { endpointFindings } from './endpoints.ts'
import { largestBump, type Bump, type Finding } from './finding.ts'
import { KINDS, publishedFindings, type Kind } from './published.ts'
import { answeringIn, formerFindings, inLaterNames, takenFindings } from './renamed.ts'
import { schemaFindings, shown, type Part } from './schemas.ts'
import type { Contract, ContractTool } from './snapshot.ts'

/** The changes from one contract to another, and the version bump that they require. */
export interface ContractDiff {
  readonly bump: Bump
  /** By tool, breaking ones first. */
  readonly findings: readonly Finding[]
}

/** What to look at. */
export interface DiffOptions {
  /**
   * Whether changes of what a route declares of its result, and does not publish, count like those of what it
   * publishes. Default is false: they are patches.
   */
  readonly countDeclared?: boolean
}

/**
 * Compares the tools, resources and endpoints of two versions of an app. Every change that breaks a caller is major. If
 * the comparison cannot tell, the change counts as major too, and the finding says so.
 */
export function diffContracts (
  before: Contract,
  after: Contract,
  { countDeclared = false }: DiffOptions = {}
): ContractDiff {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort()
  const answering = [answeringIn(before), answeringIn(after)] as const
  const heirs = new Map([...before.keys()].map((name) => [name, answering[1].get(name)]))
  const renamed = new Set([...heirs].flatMap(([name, heir]) => heir === undefined || heir === name ? [] : [heir]))
  const findings = names.flatMap((name) => {
    const old = before.get(name)
    if (old === undefined) {
      return renamed.has(name)
        ? []
        : [whole(name, 'minor', 'none → new tool', 'callers that do not know it ignore it')]
    }
    const heir = heirs.get(name)
    const now = heir === undefined ? undefined : after.get(heir)
    if (heir === undefined || now === undefined) {
      return [
        whole(
          name,
          'major',
          `tool → removed${heirOf(old, before, after)}`,
          'callers and agents that use it by name fail'
        )
      ]
    }
    return [
      ...heir === name ? [] : [whole(name, 'minor', `tool → renamed to ${heir}`, 'the old name still works')],
      ...[
        ...takenFindings(name, before, after),
        ...toolFindings(old, now, countDeclared),
        ...formerFindings(name, heir, old, now, answering)
      ].map(({ lost, ...part }) => ({ tool: name, ...part }))
    ]
  })
  const all = [
    ...findings,
    ...(Object.keys(KINDS) as readonly Kind[]).flatMap((kind) => publishedFindings(before[kind], after[kind], kind)),
    ...endpointFindings(inLaterNames(before, answering[1]), after)
  ]
  const sorted = (['major', 'minor', 'patch'] as const).flatMap((bump) =>
    all.filter((finding) => finding.bump === bump)
  )
  return { bump: largestBump(sorted.map(({ bump }) => bump)), findings: sorted }
}

function whole (tool: string, bump: Finding['bump'], change: string, why: string): Finding {
  return { tool, bump, path: '', change, why, certain: true }
}

/** A new tool that does what the removed one did is probably the same under another name. */
function heirOf (old: ContractTool, before: Contract, after: Contract): string {
  const scored = [...after].filter(([name]) => !before.has(name)).map(([name, tool]) => ({
    name,
    score: likeness(old, tool)
  }))
  const best = scored.sort((a, b) => b.score - a.score)[0]
  return best === undefined || best.score < 2 ? '' : `, probably renamed to ${best.name}`
}

function likeness (a: ContractTool, b: ContractTool): number {
  return (['inputSchema', 'outputSchema', 'annotations', 'description'] as const).filter((part) =>
    a[part] !== undefined && canonical(a[part]) === canonical(b[part])
  ).length
}

function toolFindings (old: ContractTool, now: ContractTool, countDeclared: boolean): readonly Part[] {
  const published = resultFindings(old, now)
  return [
    ...schemaFindings('input', old.inputSchema, now.inputSchema),
    ...published,
    ...declaredFindings(old, now, published, countDeclared),
    ...hintFindings(old, now),
    ...impliedFindings(old, now),
    ...confirmFindings(old, now),
    ...taskFindings(old, now),
    ...visibilityFindings(old, now),
    ...deprecatedFindings(old, now),
    ...(['title', 'description', '_meta'] as const).filter((part) => isOther(part, old, now)).map(
      (part): Part => ({
        bump: 'patch',
        path: part,
        change: `${shown(old[part])} → ${shown(now[part])}`,
        why: 'calls and results stay as they are',
        certain: true
      })
    )
  ]
}

function isOther (part: 'title' | 'description' | '_meta', old: ContractTool, now: ContractTool): boolean {
  const [was, is] = [old, now].map((tool) =>
    part === 'description' && tool.deprecated === true ? tool[part]?.replace(DEPRECATED, '') : tool[part]
  )
  return canonical(was) !== canonical(is)
}

function deprecatedFindings ({ deprecated: old }: ContractTool, { deprecated: now }: ContractTool): readonly Part[] {
  if (old === now) return []
  const calls = 'calls and results stay as they are'
  return [
    now === true
      ? {
        bump: 'minor',
        path: 'deprecated',
        change: 'not deprecated → deprecated',
        why: `${calls}, and callers are told to look for another tool`,
        certain: true
      }
      : { bump: 'patch', path: 'deprecated', change: 'deprecated → not deprecated', why: calls, certain: true }
  ]
}

function resultFindings (was: ContractTool, is: ContractTool): readonly Part[] {
  const [{ outputSchema: old }, { outputSchema: now }] = [was, is]
  if (old !== undefined && now !== undefined) {
    const { before, after, findings } = compareBeside([was, old], [is, now])
    return [...schemaFindings('output', before, after), ...findings]
  }
  if (old === now) return []
  return now === undefined
    ? [{
      bump: 'major',
      path: 'output',
      change: 'schema → none',
      why: 'callers that read the structured result find none, or one of any shape',
      certain: true
    }]
    : [{ bump: 'minor', path: 'output', change: 'none → schema', why: 'nothing was promised until now', certain: true }]
}

/** What changed of a result's declaration, beside what changed of what is published. */
function declaredFindings (
  old: ContractTool,
  now: ContractTool,
  published: readonly Part[],
  isCounted: boolean
): readonly Part[] {
  const [before, after] = [old, now].map(({ declaredOutput, outputSchema }) => declaredOutput ?? outputSchema)
  if (
    before === undefined || after === undefined ||
    (old.declaredOutput === undefined && now.declaredOutput === undefined)
  ) return []
  if (old.declaredOutput === undefined && now.declaredOutput !== undefined) {
    return [{
      bump: 'patch',
      path: 'declaredOutput',
      change: 'as published → more than that',
      why: 'the published schema says nothing of it',
      certain: true
    }]
  }
  const told = new Set(published.map(({ path, change }) => `${path} ${change}`))
  const isBroken = published.some(({ path, bump }) => path === 'output' && bump === 'major')
  const own = compareBeside([old, before], [now, after])
  return schemaFindings('output', own.before, own.after).filter(({ path, change }) =>
    !isBroken && !told.has(`${path} ${change}`)
  ).map((part): Part => {
    const path = part.path.replace(/^output/, 'declaredOutput')
    if (!isCounted) {
      return { ...part, path, bump: 'patch', why: `the published schema says nothing of it, but ${part.why}` }
    }
    // A caller that waits for a removed value breaks too, although nothing unknown arrives.
    return part.lost === undefined || part.bump === 'major'
      ? { ...part, path }
      : { ...part, path, bump: 'major', why: 'callers that wait for it wait forever' }
  })
}

function impliedFindings ({ implied: old = [] }: ContractTool, { implied: now = [] }: ContractTool): readonly Part[] {
  return [...new Set([...old, ...now])].filter((name) => old.includes(name) !== now.includes(name)).map((name): Part =>
    now.includes(name)
      ? {
        bump: 'minor',
        path: `implied.${name}`,
        change: 'not implied → implied',
        why: 'callers whose credential implies it may leave it out',
        certain: true
      }
      : {
        bump: 'major',
        path: `implied.${name}`,
        change: 'implied → not implied',
        why: 'calls without it, from callers whose credential implied it, are refused',
        certain: true
      }
  )
}

/**
 * Two kinds of change break something: calls that no longer run, and people who rely on being asked and no longer are.
 */
function confirmFindings ({ confirm: old }: ContractTool, { confirm: now }: ContractTool): readonly Part[] {
  if (old === now) return []
  const part = { path: 'confirm', change: `${old ?? 'none'} → ${now ?? 'none'}`, certain: true }
  if (now === undefined) {
    return [{
      ...part,
      bump: 'major',
      why: 'people who let their client run it because they are asked first are no longer asked'
    }]
  }
  if (now === 'allow') {
    return [{
      ...part,
      bump: 'minor',
      why: old === undefined
        ? 'clients that can ask a person do, and calls of other clients run as before'
        : 'calls of clients that cannot ask a person run at once'
    }]
  }
  if (old === 'refuse') return [{ ...part, bump: 'minor', why: 'calls that were refused run with a token' }]
  return [{
    ...part,
    bump: 'major',
    why: now === 'token'
      ? 'clients that cannot ask a person have to call twice'
      : 'calls of clients that cannot ask a person are refused'
  }]
}

/** Clients know a result that is a task, or they get none. */
function taskFindings ({ execution: old }: ContractTool, { execution: now }: ContractTool): readonly Part[] {
  const [was, is] = [old, now].map((execution) => execution?.taskSupport ?? 'none')
  if (was === is) return []
  const part = { path: 'execution', change: `${was} → ${is}`, certain: true }
  if (is === 'none') {
    return [{
      ...part,
      bump: 'major',
      why: 'clients that request a task are refused, and tasks already started are unknown'
    }]
  }
  return [{ ...part, bump: 'minor', why: 'clients that support tasks get one for work that is still running' }]
}

/**
 * Who may call a tool: models, views or both. What it says of its view is told with the rest of `_meta`: the result
 * stays.
 */
function visibilityFindings ({ _meta: old }: ContractTool, { _meta: now }: ContractTool): readonly Part[] {
  const [was, is] = [old, now].map((meta) => callersIn(meta)) as [readonly unknown[], readonly unknown[]]
  return ['model', 'app'].filter((who) => was.includes(who) !== is.includes(who)).map((who): Part => {
    const [path, name] = ['_meta.ui.visibility', who === 'model' ? 'models' : 'views']
    return was.includes(who)
      ? {
        bump: 'major',
        path,
        change: `${name} → not ${name}`,
        why: `${name} that call it are refused by their host`,
        certain: true
      }
      : { bump: 'minor', path, change: `not ${name} → ${name}`, why: 'who calls it already still may', certain: true }
  })
}

function callersIn (meta: ContractTool['_meta']): readonly unknown[] {
  const visibility: unknown = Reflect.get(Object(meta?.ui), 'visibility')
  return Array.isArray(visibility) ? visibility : ['model', 'app']
}

/** Hints whose value may not become the given one: clients run such tools without asking, or again after a failure. */
const WORSE: Readonly<Record<string, boolean>> = { destructiveHint: true, idempotentHint: false, readOnlyHint: false }
/** The protocol's defaults for missing hints. */
const MISSING: Readonly<Record<string, boolean>> = {
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
  readOnlyHint: false
}

function hintFindings (
  { annotations: old = {} }: ContractTool,
  { annotations: now = {} }: ContractTool
): readonly Part[] {
  const isReadOnly = Reflect.get(now, 'readOnlyHint') === true
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].sort().flatMap((hint): readonly Part[] => {
    const [was, is] = [Reflect.get(old, hint) ?? MISSING[hint], Reflect.get(now, hint) ?? MISSING[hint]]
    if (canonical(was) === canonical(is)) return []
    const part = { path: `annotations.${hint}`, change: `${shown(was)} → ${shown(is)}`, certain: true }
    // They mean nothing on a tool that only reads. @see the ToolAnnotations of the protocol
    if (isReadOnly && (hint === 'idempotentHint' || hint === 'destructiveHint')) {
      return [{ ...part, bump: 'patch', why: 'it means nothing on a tool that only reads' }]
    }
    if (WORSE[hint] === is) {
      return [{ ...part, bump: 'major', why: 'clients that call it without asking, or repeat a call, may now do harm' }]
    }
    return hint in MISSING
      ? [{ ...part, bump: 'minor', why: 'clients may ask more or less often' }]
      : [{ ...part, bump: 'patch', why: 'calls and results stay as they are' }]
  })
}
