import { isObject } from '../schema/json-schema.ts'
import { MCP_FROM_ROUTES_CONTRACT_UNREADABLE } from './errors.ts'

/** How much of a version has to rise. */
export type Bump = 'none' | 'patch' | 'minor' | 'major'

const ORDER: readonly Bump[] = ['none', 'patch', 'minor', 'major']

/** One difference between two contracts. */
export interface Finding {
  readonly bump: Exclude<Bump, 'none'>
  /** The tool, the URI of a resource, or the path of an endpoint. */
  readonly tool: string
  /** Where: `input.filter.status`, `output[].id`, of an endpoint the tool; empty for the whole. */
  readonly path: string
  /** What it was and what it is, in one line: `maxLength 50 → 20`. */
  readonly change: string
  /** Whom it breaks, or why it does not. */
  readonly why: string
  /** False where a break could be neither shown nor ruled out; it then counts as one. */
  readonly certain: boolean
}

/** The larger of some bumps; none of none. */
export function largestBump (bumps: Iterable<Bump>): Bump {
  return ORDER[Math.max(0, ...[...bumps].map((bump) => ORDER.indexOf(bump)))] ?? 'none'
}

/** Whether the first bump is at least as large as the second. */
export function covers (bump: Bump, asked: Bump): boolean {
  return ORDER.indexOf(bump) >= ORDER.indexOf(asked)
}

/** The finding as people read it, without the bump: `update_tag input.slug: maxLength 50 → 20: …`. */
export function textOfFinding ({ tool, path, change, why, certain }: Finding): string {
  return `${tool}${path === '' ? '' : ` ${path}`}: ${change}: ` +
    `${certain ? '' : 'cannot tell, so taken as breaking: '}${why}`
}

/** A finding that somebody has decided to live with. */
export interface Accepted {
  /** As {@link nameOfFinding} writes it: `update_tag input.slug: maxLength 50 → 20`. */
  readonly finding: string
  /** Why it breaks nobody, for reviewers. */
  readonly reason: string
  /** The last day on which it counts, `2027-03-31`; without it, it counts until the finding is gone. */
  readonly until?: string
}

/** The finding without its bump and explanation: what `accepted` names it by. */
export function nameOfFinding ({ tool, path, change }: Pick<Finding, 'tool' | 'path' | 'change'>): string {
  return `${tool}${path === '' ? '' : ` ${path}`}: ${change}`
}

/**
 * What a contract's file accepts.
 *
 * @param file - named in errors
 * @throws {@link MCP_FROM_ROUTES_CONTRACT_UNREADABLE} for an entry without a finding or reason, or with a day that is
 *   none
 */
export function acceptedFromText (text: string, file: string): readonly Accepted[] {
  const { accepted = [] } = JSON.parse(text) as { accepted?: unknown }
  if (!Array.isArray(accepted)) throw new MCP_FROM_ROUTES_CONTRACT_UNREADABLE(file, '"accepted" is not an array')
  return accepted.map((entry: unknown, index) => {
    const refuse = (what: string): never => {
      throw new MCP_FROM_ROUTES_CONTRACT_UNREADABLE(file, `accepted[${index}]${what}`)
    }
    if (!isObject(entry)) return refuse(' is not an object')
    const { finding, reason, until, ...more } = entry
    if (typeof finding !== 'string' || finding === '') {
      return refuse('.finding is missing: the finding as the report shows it, without its explanation')
    }
    if (typeof reason !== 'string' || reason.trim() === '') {
      return refuse('.reason is missing: say why it breaks nobody')
    }
    if (until !== undefined && !isDay(until)) {
      return refuse(`.until is ${JSON.stringify(until)}, not a day such as "2027-03-31"`)
    }
    const [unknown] = Object.keys(more)
    if (unknown !== undefined) return refuse(`.${unknown} is unknown. Known: finding, reason, until`)
    return { finding, reason, ...until !== undefined && { until: String(until) } }
  })
}

function isDay (value: unknown): boolean {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value)) return false
  const day = new Date(`${value}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(value)
}
