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

/** How to connect each client and what its model reads, as a page: what the lab asserts word for word, in short. */
export function page (clients: readonly Client[], scenes: readonly Scene[]): string {
  const shown = scenes.filter(({ about }) => about !== undefined)
  return `# Connect a client, and what its model reads

\`npm run lab clients\` tries everything on this page with released MCP clients, and writes it.

## Configure a client

| client | with an API key | good to know |
|---|---|---|
${clients.map(({ name, configure, note = '' }) => row([name, configure, note])).join('\n')}

At a server with [the broker](../packages/oauth-discovery-shim/docs/broker.md), every client signs in with the URL \
alone.

## What each client supports

| client | version | newest revision | shows the instructions | reads resources | signs in by |
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

The newest revision of MCP is 2026-07-28; the others speak 2025-11-25. ${
    clients.filter(({ listsSkills }) => listsSkills).map(({ name }) => name).join(' and ')
  } can list skills; the others read them as resources.

## Clients tested by their sign-in only

The lab cannot run these. It signs in as they do, with the metadata and callbacks that their makers publish.

| client | identified by | callback |
|---|---|---|
${playedClients.map((client) => row([client.name, knownBy(client), `\`${client.callback}\``])).join('\n')}

## What the model reads

\`⏎\` is the end of a line, and \`<is_error>\` means that the client marks the result as an error. The line that Codex \
puts before every result is left out: \`${OF_CODEX.trim()}\`. Other errors of routes look like a bad argument.
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
  if (document === 'told') return 'registration, or a metadata document that you name'
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
