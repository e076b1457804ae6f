import { nameOfFinding, textOfFinding, type Finding, type Bump } from '../contract/index.ts'
import { covers } from '../contract/finding.ts'
import type { ContractReport, VersionReport } from './check.ts'

/** The report for people. */
export function textFromReport (report: ContractReport, module: string): string {
  const { drift, version } = report
  const lines = drift.ok
    ? [`${report.file} matches the app: ${report.tools} tools.`]
    : [
      `${report.file} does not match the app:`,
      ...listOf(drift.findings),
      `If intended, update it: npx mcp-from-routes contract write ${module}`
    ]
  return [
    ...lines,
    ...drift.endpoints ? [] : [`${UNGUARDED}. Add them: npx mcp-from-routes contract write ${module}`],
    '',
    ...versionLines(version, drift.findings),
    ...version.checked && drift.endpoints && !version.endpoints
      ? [`Endpoints were not compared: the file does not hold them at ${version.base}.`]
      : [],
    ''
  ].join('\n')
}

const UNGUARDED = 'Endpoints are NOT guarded yet: the file does not hold them'

function versionLines (version: VersionReport, told: readonly Finding[]): readonly string[] {
  if (!version.checked) {
    return [
      `The version was NOT checked: ${version.reason}.`,
      `${version.hint}.`,
      ...version.ok
        ? []
        : [
          'This fails in CI, because changes that were not compared may break callers. To pass anyway, add ' +
          '--allow-unchecked.'
        ]
    ]
  }
  const { base, findings, accepted, unused } = version
  const notes = unused.map(({ finding, reason }) => `  accepted entry unused: ${oneLine(finding)}: ${reason}`)
  if (findings.length === 0) return [`No change since ${base}.`, ...notes]
  const isAccepted = new Set(accepted.map(({ finding }) => finding))
  const counted = findings.filter((finding) => !isAccepted.has(finding))
  const list = JSON.stringify(counted) === JSON.stringify(told) ? [] : listOf(counted)
  const beside = [
    ...accepted.map(({ finding, reason, until }) =>
      `  accepted${until === undefined ? '' : ` until ${until}`}: ${nameOfFinding(finding)}: ${oneLine(reason)}`
    ),
    ...notes
  ]
  const end = list.length === 0 && beside.length === 0 ? '.' : ':'
  if (version.ok) {
    return [
      `The changes since ${base} require ${requirement(version)}, and ${version.package} ${riseOf(version)}${end}`,
      ...list,
      ...beside
    ]
  }
  return [
    `The changes since ${base} require ${requirement(version)}, but ${version.package} ` +
    `${riseOf(version)}${isOwnMissing(version) ? ', through other branches only' : ''}${end}`,
    ...list,
    ...beside,
    remedy(version)
  ]
}

/** Text that people wrote, on one line: in a report or a CI log, a second line could pass for output of the program. */
function oneLine (text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ')
}

type Checked = Extract<VersionReport, { readonly checked: true }>

function requirement ({ asked }: Checked): string {
  return asked === 'none' ? 'nothing' : asked
}

function riseOf ({ from, to, given }: Checked): string {
  if (given === 'none') return from === to ? `stays ${from}` : `goes from ${from} to ${to} without a change`
  return `rises from ${from} to ${to}, ${given}`
}

function isOwnMissing ({ own, asked, given }: Checked): boolean {
  return own !== undefined && covers(given, asked) && !covers(own, asked)
}

function remedy (version: Checked): string {
  const { package: name, asked, skipped, by } = version
  const undo = `or revert the ${asked === 'major' ? 'breaking ' : ''}change.`
  if (by === 'bump') return `Release it as ${asked} (--bump ${asked}), ${undo}`
  if (by === 'commits') {
    const prefix = { major: 'feat!', minor: 'feat', patch: 'fix', none: 'fix' }[asked]
    return `Declare it in a commit message (\`${prefix}: …\`), ${undo}`
  }
  if (by === 'version') return `Raise the version of ${name} (npm version ${asked}), ${undo}`
  if (skipped !== undefined) return `No changeset raises the version of ${name}: ${skipped}. Change that, ${undo}`
  if (isOwnMissing(version)) {
    return `Add a changeset on this branch (npx changeset: ${name}, ${asked}), ${undo} Changesets of other ` +
      'branches do not count.'
  }
  return `Add a changeset (npx changeset: ${name}, ${asked}), ${undo}`
}

function listOf (findings: readonly Finding[]): readonly string[] {
  return findings.map((finding) => `  ${finding.bump}  ${textOfFinding(finding)}`)
}

/**
 * The report as annotations of a pull request: what is wrong, at the contract's file, and what could not be checked.
 *
 * @param file - the contract's file, from the top of the repository
 * @param stored - its text, in which tools and endpoints are looked up
 * @see [Workflow commands](https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands)
 */
export function annotationsFromReport (
  { drift, version }: ContractReport,
  file: string,
  stored: string
): readonly string[] {
  const lines = stored.split('\n')
  const at = (tool: string): number =>
    Math.max(1, lines.findIndex((line) => line.startsWith(`    ${JSON.stringify(tool)}: `)) + 1)
  const annotation = (level: string, text: string, line: number): string =>
    `::${level} file=${property(file)},line=${line},title=Tool contract::${data(text)}`
  const tooSmall = version.checked && !version.ok ? version : undefined
  return [
    ...drift.findings.map((finding) =>
      annotation('error', `Not in the file: ${textOfFinding(finding)}`, at(finding.tool))
    ),
    ...drift.ok || drift.findings.length > 0 ? [] : [annotation('error', 'The file does not match the app', 1)],
    ...drift.endpoints
      ? []
      : [annotation('warning', `${UNGUARDED}. Add them: mcp-from-routes contract write`, 1)],
    ...tooSmall?.findings.filter((finding) =>
      finding.bump === tooSmall.asked && !tooSmall.accepted.some((one) => one.finding === finding)
    )
      .map((finding) =>
        annotation(
          'error',
          `Requires ${finding.bump}, but ${tooSmall.package} gets ` +
            `${isOwnMissing(tooSmall) ? 'it from other branches only' : tooSmall.given}: ${textOfFinding(finding)}`,
          at(finding.tool)
        )
      ) ?? [],
    ...version.checked
      ? []
      : [
        annotation(
          version.ok ? 'warning' : 'error',
          `The version was not checked: ${version.reason}. ${version.hint}`,
          1
        )
      ]
  ]
}

function data (text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property (text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}

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
    const lines = findings.filter((finding) => finding.tool === tool).map((finding) =>
      `  - ${lineOf(finding)}${reasons.has(finding) ? ` Accepted: ${quoted(reasons.get(finding) ?? '')}.` : ''}\n`
    )
    return `- **${quoted(tool)}**\n${lines.join('')}`
  }).join('')
}

function lineOf ({ path, change, why, certain }: Finding): string {
  const place = path === '' ? '' : `${code(path)}: `
  return `${place}${quoted(change)}. ` +
    `${certain ? '' : 'Perhaps: '}${quoted(why.charAt(0).toUpperCase() + why.slice(1))}.`
}

/**
 * A string of the app as Markdown that shows it and does nothing else. On GitHub, a backslash keeps no `@name` from
 * notifying somebody and no address from becoming a link: code does.
 */
function quoted (text: string): string {
  return /[`<>&@#]|:\/\/|www\./i.test(text)
    ? code(text)
    : text.replaceAll(/[\\*_[\]|~]/g, '\\$&').replaceAll(/\s+/g, ' ')
}

/** @see [CommonMark §6.1](https://spec.commonmark.org/0.31.2/#code-spans) */
function code (text: string): string {
  const fence = '`'.repeat(Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length)) + 1)
  const line = text.replaceAll(/\s+/g, ' ')
  return line.includes('`') ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`
}
