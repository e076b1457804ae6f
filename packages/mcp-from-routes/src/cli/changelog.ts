import type { Bump, Finding } from '../contract/index.ts'
import type { VersionReport } from './check.ts'

const HEADINGS: Readonly<Record<Exclude<Bump, 'none'>, string>> = {
  major: 'What callers must change',
  minor: 'What is new',
  patch: 'What is said differently'
}

/** The changes since an earlier state as Markdown, for a release or a pull request: what breaks first, tool by tool. */
export function changelogFromReport (version: VersionReport): string {
  if (!version.checked) return `The tools were not compared: ${version.reason}.\n`
  const { findings, accepted } = version
  if (findings.length === 0) return 'The tools have not changed.\n'
  const reasons = new Map(accepted.map(({ finding, reason }) => [finding, reason]))
  return (['major', 'minor', 'patch'] as const).flatMap((bump) => {
    const some = findings.filter((finding) => finding.bump === bump)
    return some.length === 0 ? [] : [`### ${HEADINGS[bump]}\n\n${toolsOf(some, reasons)}`]
  }).join('\n')
}

function toolsOf (findings: readonly Finding[], reasons: ReadonlyMap<Finding, string>): string {
  return [...new Set(findings.map(({ tool }) => tool))].map((tool) => {
    const lines = findings.filter((finding) => finding.tool === tool).map((finding) => `  - ${lineOf(finding)}${reasons.has(finding) ? ` Accepted: ${quoted(reasons.get(finding) ?? '')}.` : ''}\n`)
    return `- **${quoted(tool)}**\n${lines.join('')}`
  }).join('')
}

function lineOf ({ path, change, why, certain }: Finding): string {
  const place = path === '' ? '' : `${code(path)}: `
  return `${place}${quoted(change)}. ${certain ? '' : 'Perhaps: '}${quoted(why.charAt(0).toUpperCase() + why.slice(1))}.`
}

/**
 * A string of the app as Markdown that shows it and does nothing else. On GitHub, a backslash keeps no `@name` from
 * notifying somebody and no address from becoming a link: code does.
 */
function quoted (text: string): string {
  return /[`<>&@#]|:\/\/|www\./i.test(text) ? code(text) : text.replaceAll(/[\\*_[\]|~]/g, '\\$&').replaceAll(/\s+/g, ' ')
}

/** @see [CommonMark §6.1](https://spec.commonmark.org/0.31.2/#code-spans) */
function code (text: string): string {
  const fence = '`'.repeat(Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length)) + 1)
  const line = text.replaceAll(/\s+/g, ' ')
  return line.includes('`') ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`
}
