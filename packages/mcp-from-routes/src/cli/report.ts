import { textOfFinding } from '../contract/index.ts'
import type { Finding } from '../contract/index.ts'
import type { ContractReport, VersionReport } from './check.ts'

/** The report for people. */
export function textFromReport (report: ContractReport, module: string): string {
  const { drift, version } = report
  const lines = drift.ok
    ? [`${report.file} matches the app: ${report.tools} tools.`]
    : [`${report.file} does not match the app:`, ...listOf(drift.findings), `If intended, update it: npx mcp-from-routes contract write ${module}`]
  return [...lines, '', ...versionLines(version, drift.findings), ''].join('\n')
}

function versionLines (version: VersionReport, told: readonly Finding[]): readonly string[] {
  if (!version.checked) {
    return [`The version was NOT checked: ${version.reason}.`, `${version.hint}.`]
  }
  const { base, from, to, asked, given, findings } = version
  if (findings.length === 0) return [`No change since ${base}.`]
  const list = JSON.stringify(findings) === JSON.stringify(told) ? [] : listOf(findings)
  const rise = given === 'none' ? `stays ${from}` : `rises from ${from} to ${to}, ${given}`
  if (version.ok) return [`The changes since ${base} require ${asked}, and ${version.package} ${rise}:`, ...list]
  return [
    `The changes since ${base} require ${asked}, but ${version.package} ${rise}${list.length === 0 ? '.' : ':'}`,
    ...list,
    `Add a changeset that says so (npx changeset: ${version.package}, ${asked}), or revert the breaking change.`
  ]
}

function listOf (findings: readonly Finding[]): readonly string[] {
  return findings.map((finding) => `  ${finding.bump}  ${textOfFinding(finding)}`)
}

/**
 * The report as annotations of a pull request: what is wrong, at the contract's file, and what could not be checked.
 *
 * @param file - the contract's file, from the top of the repository
 * @param stored - its text, in which tools are looked up
 * @see [Workflow commands](https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands)
 */
export function annotationsFromReport ({ drift, version }: ContractReport, file: string, stored: string): readonly string[] {
  const lines = stored.split('\n')
  const at = (tool: string): number => Math.max(1, lines.findIndex((line) => line.startsWith(`    ${JSON.stringify(tool)}: `)) + 1)
  const annotation = (level: string, text: string, line: number): string => `::${level} file=${property(file)},line=${line},title=Tool contract::${data(text)}`
  const tooSmall = version.checked && !version.ok ? version : undefined
  return [
    ...drift.findings.map((finding) => annotation('error', `Not in the file: ${textOfFinding(finding)}`, at(finding.tool))),
    ...drift.ok || drift.findings.length > 0 ? [] : [annotation('error', 'The file does not match the app', 1)],
    ...tooSmall?.findings.filter(({ bump }) => bump === tooSmall.asked)
      .map((finding) => annotation('error', `Requires ${finding.bump}, but ${tooSmall.package} gets ${tooSmall.given}: ${textOfFinding(finding)}`, at(finding.tool))) ?? [],
    ...version.checked ? [] : [annotation('warning', `The version was not checked: ${version.reason}`, 1)]
  ]
}

function data (text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property (text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
