/** How much of a version has to rise. */
export type Bump = 'none' | 'patch' | 'minor' | 'major'

const ORDER: readonly Bump[] = ['none', 'patch', 'minor', 'major']

/** One difference between two contracts. */
export interface Finding {
  readonly bump: Exclude<Bump, 'none'>
  /** The tool, or the URI of a resource. */
  readonly tool: string
  /** Where: `input.filter.status`, `output[].id`; empty for the tool as a whole. */
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
  return `${tool}${path === '' ? '' : ` ${path}`}: ${change}: ${certain ? '' : 'cannot tell, so taken as breaking: '}${why}`
}
