import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { STEPS, type Outcome } from './adopt.ts'
import type { Adopter } from './apps.ts'

/** What became of each application, as a page. */
export function page (adopters: readonly Adopter[], outcomes: ReadonlyMap<string, Outcome>): string {
  return `# Compatibility: sample apps that we test against

We wrote these apps to resemble real ones. \`npm run lab adopters\` adds the packed packages to each \
as their READMEs say, runs the app's own tests before and after, and calls its tools with both official SDKs. It writes \
this page ([options](../CONTRIBUTING.md)).

| app | made of | its sign-in | Fastify | what you change |
|---|---|---|---|---|
${
    adopters.map((adopter) =>
      row([
        linkOf(adopter),
        adopter.kind,
        adopter.signIn,
        outcomes.get(adopter.name)?.fastify ?? '',
        changesOf(adopter)
      ])
    ).join('\n')
  }

Steps: ${STEPS.join(', ')}.

${
    adopters.filter((adopter) => hasFailed(outcomes.get(adopter.name))).map(({ name }) =>
      `- **${name} failed**: ${failureOf(outcomes.get(name))}.`
    ).join('\n') || 'Every app passes all of them.'
  }
`
}

function linkOf ({ name }: Adopter): string {
  return `[${name}](../test/adopters/${name})`
}

function changesOf ({ name, changes, packages, more = [] }: Adopter): string {
  // Lines before one that is there are new.
  const changed = changes.reduce((sum, { from, to }) => sum + linesIn(to) - (to.endsWith(from) ? linesIn(from) : 0), 0)
  const folder = fileURLToPath(new URL(`${name}/adopted/`, import.meta.url))
  const added = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + linesIn(readFileSync(join(parentPath, name), 'utf8').trimEnd()), 0)
  return `${changed} ${changed === 1 ? 'line' : 'lines'}, and a file of ${added}; installs ` +
    `${[...packages, ...more].map((one) => `\`${one}\``).join(', ')}`
}

function linesIn (text: string): number {
  return text.split('\n').length
}

function hasFailed (outcome: Outcome | undefined): boolean {
  return outcome?.done.length !== STEPS.length
}

function failureOf (outcome: Outcome | undefined): string {
  return outcome === undefined ? 'it was not run' : STEPS[outcome.done.length]!
}

function row (cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}
