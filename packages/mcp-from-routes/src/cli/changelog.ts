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
    const lines = findings.filter((finding) => finding.tool === tool).map((finding) => `  - ${lineOf(finding)}${reasons.has(finding) ? ` Accepted: ${escaped(reasons.get(finding) ?? '')}.` : ''}\n`)
    return `- **${escaped(tool)}**\n${lines.join('')}`
  }).join('')
}

function lineOf ({ path, change, why, certain }: Finding): string {
  const place = path === '' ? '' : `${code(path)}: `
  return `${place}${escaped(change)}. ${certain ? '' : 'Perhaps: '}${escaped(why.charAt(0).toUpperCase() + why.slice(1))}.`
}

function code (text: string): string {
  return text.includes('`') ? escaped(text) : `\`${text}\``
}

/** Names and descriptions of tools come from the app: as Markdown they would mention people, or end the list. */
function escaped (text: string): string {
  return text.replaceAll(/[\\`*_[\]<>@#|~]/g, '\\$&').replaceAll(/\s+/g, ' ')
}
