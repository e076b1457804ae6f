import { versionOf, type Client } from './client.ts'
import type { Told } from './model.ts'
import { playedClients, type PlayedClient } from './played/clients.ts'
import type { Scene } from './scene.ts'
import { SKILL } from './skill.ts'
import { readBy } from './visit.ts'

/** How much of a string the page shows, in characters. */
const LONGEST = 100

/** What Codex puts in front of every result: the page says it once. */
const OF_CODEX = 'Wall time: N seconds ⏎ Output: ⏎ '

/** What all clients show, as a page: what the lab asserts word for word, in short. */
export function page (clients: readonly Client[], scenes: readonly Scene[]): string {
  const shown = scenes.filter(({ about }) => about !== undefined)
  return `# What clients show

How to connect a client, and what its model reads of a tool call. \`npm run lab clients\` tries all of it with the \
released clients, and writes this page.

## The clients

| client | version | newest revision | shows the instructions | reads resources | signs a person in by |
|---|---|---|---|---|---|
${
    clients.map((client) =>
      row([
        client.name,
        versionOf(client),
        word(client.isNewest),
        word(client.showsInstructions),
        readsResources(client),
        signsIn(client)
      ])
    ).join('\n')
  }

The newest revision is 2026-07-28; the others speak 2025-11-25. Skills are listed by ${
    clients.filter(({ listsSkills }) => listsSkills).map(({ name }) => name).join(' and ')
  }; the others read them as resources.

At a server with [the broker](../packages/oauth-discovery-shim/docs/broker.md), every client signs in with the URL \
alone.

## Clients that the lab plays

The lab does not run these: it sends what they send, by the metadata documents and callbacks that their makers publish.

| client | known by | callback |
|---|---|---|
${playedClients.map((client) => row([client.name, knownBy(client), `\`${client.callback}\``])).join('\n')}

## How to configure them

| client | with an API key | good to know |
|---|---|---|
${clients.map(({ name, configure, note = '' }) => row([name, configure, note])).join('\n')}

## What the model reads

\`ID\` and \`TIME\` stand for values that differ, \`⏎\` for the end of a line, and \`<is_error>\` for a result that \
the client marks as an error. Codex puts \`${OF_CODEX.trim()}\` in front of every result, which is left out here. \
Other errors of routes look like a bad argument.
${shown.map((scene) => section(clients, scene)).join('')}`
}

function section (clients: readonly Client[], scene: Scene): string {
  const says = 'status' in scene.says ? [`HTTP ${scene.says.status}`] : scene.says.content
  return `
### ${scene.title[0]?.toUpperCase()}${scene.title.slice(1)}: ${scene.about}

\`${scene.tool}\`. The server says ${quote(says)}.

${table(clients, says, (client) => readBy(client, scene) ?? [])}
`
}

function table (clients: readonly Client[], says: Told, told: (client: Client) => Told): string {
  const groups = new Map<string, string[]>()
  for (const client of clients) {
    const reads = comparedWith(says, told(client))
    groups.set(reads, [...groups.get(reads) ?? [], client.name])
  }
  const same = groups.get(SAME)
  groups.delete(SAME)
  const some = same?.length === 1 ? same[0]! : 'all others'
  return `| client | the model reads |
|---|---|
${
    [
      ...[...groups].map(([reads, names]) => row([names.join('; '), reads])),
      ...same === undefined ? [] : [row([groups.size === 0 ? 'all' : some, SAME])]
    ].join('\n')
  }`
}

const SAME = 'the same'

/** What a model reads, in short where that is what the server says, whole or behind words of the client. */
function comparedWith (says: Told, told: Told): string {
  const [said, whole] = [oneLine(says), oneLine(told).replace(OF_CODEX, '')]
  if (whole === said) return SAME
  const before = whole.slice(0, -said.length)
  return said !== '' && whole.endsWith(said) ? `\`${before.trim()}\`, then the same` : quote([whole])
}

function readsResources ({ reads }: Client): string {
  return reads === undefined ? 'the application' : `the model, by \`${reads(SKILL.uri).name}\``
}

function oneLine (told: Told): string {
  return told.join(' ⏎ ').replaceAll('\n', ' ⏎ ')
}

function quote (told: Told): string {
  const whole = oneLine(told)
  if (whole === '') return 'nothing'
  return `\`${whole.length > LONGEST ? `${whole.slice(0, LONGEST)}…` : whole}\``
}

function signsIn ({ instead, document }: Client): string {
  if (instead?.['sign-in'] !== undefined) return 'no'
  if (document === 'told') return 'registration, or a metadata document that it is told'
  return document === undefined ? 'registration' : 'its metadata document'
}

function knownBy ({ by }: PlayedClient): string {
  return 'document' in by ? `\`${by.document}\`` : 'registration'
}

function word (yes: boolean): string {
  return yes ? 'yes' : 'no'
}

function row (cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
