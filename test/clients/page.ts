import { PROVIDER_KINDS } from '../../examples/shop/test/strict-provider.ts'
import { versionOf, type Client } from './client.ts'
import type { Told } from './model.ts'
import { playedClients, type PlayedClient } from './played/clients.ts'
import type { Scene } from './scene.ts'
import { SKILL } from './skill.ts'
import { readBy, skillReadBy } from './visit.ts'

/** How much of a string the page shows, in characters. */
const LONGEST = 160

/** What all clients show, as a page: what the lab asserts word for word, in short. */
export function page (clients: readonly Client[], scenes: readonly Scene[]): string {
  const shown = scenes.filter(({ about }) => about !== undefined)
  return `# What clients show

What a model reads when a client calls a tool of this repository's servers, measured with the released clients themselves: \`npm run clients\` plays the model, asserts every line below word for word, and writes this page. [CONTRIBUTING](../CONTRIBUTING.md) has its options.

## The clients

| client | version | newest revision | shows the instructions | asks for progress | reads resources | signs a person in |
|---|---|---|---|---|---|---|
${clients.map((client) => row([client.name, versionOf(client), word(client.isNewest), word(client.showsInstructions), word(client.asksForProgress), readsResources(client), signsIn(client)])).join('\n')}

The newest revision is 2026-07-28; the others speak 2025-11-25. All of them list all tools that the server lists. Skills are listed by ${namesOf(clients, 'listsSkills')}; the others read them as resources. [Views](mcp-from-routes/views.md) are for hosts with a screen; of these, ${namesOf(clients, 'showsViews')} says that it shows them.

Every client signs in with nothing but the URL, at a server with [the broker](oauth-discovery-shim/broker.md). A server without the internet turns metadata documents off; then all of them register.

## Clients that the lab plays

These cannot run here. The lab sends what they send, by the metadata documents and callbacks that their makers publish, and serves the documents in place of their sites. Each signs in, calls the server, and refreshes its token before and after a restart of the server; a refresh after revocation is refused.

| client | known by | callback |
|---|---|---|
${playedClients.map((client) => row([client.name, knownBy(client), `\`${client.callback}\``])).join('\n')}

## For more than an hour

At a server with the broker, in front of providers that behave as these document it: the client runs and calls all the time, refreshes its token three times, and the server restarts. The clock is the server's. Nobody signs in again.

| client | ${PROVIDER_KINDS.map((kind) => `${kind[0]!.toUpperCase()}${kind.slice(1)}`).join(' | ')} |
|---|${PROVIDER_KINDS.map(() => '---|').join('')}
${clients.filter(({ staysForHours }) => staysForHours).map(({ name }) => row([name, ...PROVIDER_KINDS.map(() => 'works')])).join('\n')}

The tests do the same with both SDKs.

## How to configure them

| client | with an API key | good to know |
|---|---|---|
${clients.map(({ name, configure, note = '' }) => row([name, configure, note])).join('\n')}

## What the model reads

\`ID\` and \`TIME\` stand for values that differ, \`STACK\` for a stack trace, and \`⏎\` for the end of a line. \`<is_error>\` is a result that the client marks as an error, \`<throws …>\` an exception in the application, \`<ended>\` an agent that stops with an exception, and \`<nothing>\` one that waits for a person.
${shown.map((scene) => section(clients, scene)).join('')}
### Skill: a page of it, read as a resource

\`${SKILL.uri}\`. The server says ${quote([SKILL.text])}.

${table(clients.filter(({ reads }) => reads), quote([SKILL.text]), skillReadBy)}
`
}

function section (clients: readonly Client[], scene: Scene): string {
  const says = 'status' in scene.says ? `HTTP ${scene.says.status}` : quote(scene.says.content)
  const present = clients.filter(({ canAsk = false }) => scene.canAsk === undefined || scene.canAsk === canAsk)
  return `
### ${scene.title[0]?.toUpperCase()}${scene.title.slice(1)}: ${scene.about}

\`${scene.tool}\`. ${scene.asks && scene.canAsk !== false ? `The person reads ${quote([scene.asks.reads])}. ` : ''}The server says ${says}.

${table(present, says, (client) => readBy(client, scene) ?? [])}
`
}

/** @param says - what the server says, as the page quotes it */
function table (clients: readonly Client[], says: string, told: (client: Client) => Told): string {
  const groups = new Map<string, string[]>()
  for (const client of clients) {
    const quoted = quote(told(client))
    const reads = quoted === says ? 'the same' : quoted
    groups.set(reads, [...groups.get(reads) ?? [], client.name])
  }
  return `| client | the model reads |
|---|---|
${[...groups].map(([reads, names]) => row([names.join('; '), reads])).join('\n')}`
}

function namesOf (clients: readonly Client[], property: 'listsSkills' | 'showsViews'): string {
  return clients.filter((client) => client[property]).map(({ name }) => name).join(' and ')
}

function readsResources ({ reads }: Client): string {
  return reads === undefined ? 'the application' : `the model, by \`${reads(SKILL.uri).name}\``
}

function quote (told: Told): string {
  const whole = told.join(' ⏎ ').replaceAll('\n', ' ⏎ ')
  if (whole === '') return 'nothing'
  return `\`${whole.length > LONGEST ? `${whole.slice(0, LONGEST)}…` : whole}\``
}

function signsIn ({ instead, document }: Client): string {
  if (instead?.['sign-in'] !== undefined) return 'no'
  if (document === 'told') return 'yes; by registration, or by a metadata document that it is told'
  return document === undefined ? 'yes, by registration' : 'yes, by its metadata document'
}

function knownBy ({ by }: PlayedClient): string {
  return 'document' in by ? `its metadata document, \`${by.document}\`` : 'registration'
}

function word (yes: boolean): string {
  return yes ? 'yes' : 'no'
}

function row (cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
