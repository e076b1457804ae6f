import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const FOLDER = fileURLToPath(new URL('..', import.meta.url))

/** Why there is no promtool to test with, else false. */
export const withoutPromtool = spawnSync('promtool', ['--version']).status !== 0 && 'promtool is not installed'

/** Runs promtool in the folder of the shop. @returns what it says, and its exit code */
export function promtool (args: readonly string[], input = ''): { code: number | null, said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8', cwd: FOLDER })
  return { code: status, said: stdout + stderr }
}

/** One sample of a scrape. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** The samples in what `/metrics` serves. */
export function samplesOf (text: string): readonly Sample[] {
  return [...text.matchAll(/^([a-z_:]\w*)(?:\{(.*)\})? (\S+)$/gmi)].map(([, name, labels = '', value]) => ({
    name: name!,
    labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, text]) => [label!, text!])),
    value: Number(value)
  }))
}

/** A series that an expression reads: `name{label="value"}`. */
interface Selector {
  readonly name: string
  /** Label, how it is compared, and with what. */
  readonly matchers: ReadonlyArray<readonly [string, string, string]>
}

/** What comes from Prometheus itself. */
const OF_PROMETHEUS = ['up', 'job', 'instance']

/**
 * The series of the shop that a PromQL expression reads. Of the language it knows what the rules and the dashboard use.
 */
export function selectorsOf (expression: string): readonly Selector[] {
  // Labels that are grouped by are no series.
  const bare = expression.replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, '')
  return [...bare.matchAll(/(?<![\w:$"])([a-z_][\w:]*)(?![\w:]|\s*\()(?:\{([^}]*)\})?/gi)]
    .filter(([, name]) =>
      !/^(?:and|or|unless|bool|offset)$/.test(name!) && !OF_PROMETHEUS.includes(name!) && !/^\d*[smhdwy]$/.test(name!)
    )
    .map(([, name, matchers = '']) => ({
      name: name!,
      matchers: [...matchers.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].map(([, label, how, value]) =>
        [label!, how!, value!] as const
      )
    }))
}

/** Whether a selector finds a sample. Labels that Prometheus adds are not compared. */
export function finds ({ name, matchers }: Selector, sample: Sample): boolean {
  return sample.name === name && matchers.every(([label, how, value]) => {
    const found = sample.labels[label] ?? ''
    const isAlike = how.includes('~') ? new RegExp(`^(?:${value})$`).test(found) : found === value
    return OF_PROMETHEUS.includes(label) || isAlike === !how.startsWith('!')
  })
}

/** The text of a file in the repository. */
export function textOf (path: string): string {
  return readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
}
