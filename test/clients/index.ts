// `npm run lab clients`: see CONTRIBUTING.md
import { readFileSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { versionOf, type Client } from './client.ts'
import { envelopesOf } from './envelopes.ts'
import { startFixture } from './fixture.ts'
import { hoursOf } from './hour.ts'
import { installClient, installNode } from './install.ts'
import { documentOf } from './internet/documents.ts'
import { openInternet } from './internet/index.ts'
import { page } from './page.ts'
import { playAll } from './played/index.ts'
import { record, type Exchange, type Recorder } from './recorder.ts'
import type { Scene, Visit } from './scene.ts'
import { catalog, readOnly, revoked } from './scenes/catalog.ts'
import { nobody, questions } from './scenes/questions.ts'
import { results } from './scenes/results.ts'
import { signIn, signInByDocument } from './scenes/sign-in.ts'
import { startShop } from './shop.ts'
import { clients } from './table.ts'
import { ended, take, type Outcome } from './visit.ts'

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    record: { type: 'string' },
    write: { type: 'boolean', default: false }
  }
})
const chosen = clients.filter(({ id, isLarge = false }) =>
  options.only ? options.only.includes(id) : !isLarge || process.env['CLIENTS'] === 'all'
)
const plays = options.only?.includes('played') ?? true
if (chosen.length === 0 && !plays) {
  throw new Error(`--only must name some of ${clients.map(({ id }) => id).join(', ')}, played`)
}

/** How many clients are installed, or run, at the same time. */
const AT_ONCE = 2

const visits = [catalog, readOnly, revoked, results, questions, nobody, signIn, signInByDocument]
const pageFile = new URL('../../docs/clients.md', import.meta.url)

const folders = new Map<Client, string>()
const recorded = new Map<Client, readonly Exchange[]>()
/** By title: clients that cannot ask a person have other scenes than those that can. */
const scenes = new Map<string, Scene>()

const internet = await openInternet()
const [node, shop] = await Promise.all([
  installNode(),
  startShop(internet.environment),
  each(chosen, async (client) => {
    folders.set(client, await installClient(client))
  })
])
if (plays) {
  for (const { client, problem } of await playAll(shop)) {
    console.log(`${problem === undefined ? 'ok    ' : 'not ok'} ${client.name}, played`)
    if (problem !== undefined) fail(`  ${problem}`)
  }
}
await each(chosen, async (client) => {
  const start = performance.now()
  print(client, await outcomesOf(client), performance.now() - start)
})
await shop.stop()
internet.close()
for (const client of chosen.filter(({ staysForHours }) => staysForHours)) {
  const start = performance.now()
  print(client, await hoursOf(client, { folder: folders.get(client)!, node }), performance.now() - start)
}

// What is on the page was asserted, for the clients that ran.
const text = page(clients, [...scenes.values()])
if (options.write) writeFileSync(pageFile, text)
else if (text !== readFileSync(pageFile, 'utf8')) {
  fail('docs/clients.md is not what the lab shows. If that is intended, update it: npm run lab clients -- --write')
}
if (options.record) writeFileSync(options.record, JSON.stringify(envelopesOf(recorded), null, 2) + '\n')

/** Does something with each client, some at the same time. */
async function each (list: readonly Client[], work: (client: Client) => Promise<void>): Promise<void> {
  const waiting = [...list]
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let client = waiting.shift(); client !== undefined; client = waiting.shift()) await work(client)
  }))
}

/** Takes a client through all visits. */
async function outcomesOf (client: Client): Promise<readonly Outcome[]> {
  const fixture = await startFixture()
  const outcomes: Outcome[] = []
  const exchanges: Exchange[] = []
  const plans: Visit[] = []
  for (const visit of visits) {
    const at: { recorder?: Recorder } = {}
    const plan = await visit({
      shop,
      fixture,
      disconnect: () => at.recorder?.disconnect(),
      redirect: (origin) => at.recorder?.redirect(origin)
    })
    plans.push(plan)
    if (plan.canAsk !== undefined && plan.canAsk !== (client.canAsk ?? false)) continue
    if (plan.byDocument && client.document !== 'told') continue
    const recorder = await record(plan.origin)
    at.recorder = recorder
    try {
      outcomes.push(...await take(client, plan, recorder, { folder: folders.get(client)!, node }))
    } catch (error) {
      outcomes.push(lost(client, plan, error as Error))
    }
    recorder.close()
    exchanges.push(...recorder.exchanges)
  }
  await fixture.close()
  outcomes.push(...documentOutcome(client))
  recorded.set(client, exchanges)
  for (const { scenes: own } of plans) for (const scene of own) scenes.set(scene.title, scene)
  return outcomes
}

/** Whether the server has read the client's metadata document: otherwise the client has registered. */
function documentOutcome (client: Client): readonly Outcome[] {
  if (client.document === undefined) return []
  const url = client.document === 'told' ? documentOf(client.id) : client.document.own
  return [{
    client,
    scene: 'metadata document',
    told: [],
    problems: internet.read.has(url) ? [] : [`the server did not read ${url}`]
  }]
}

/** A visit of which nothing came. */
function lost (client: Client, { name }: Visit, error: Error): Outcome {
  const told = ended(error)
  return { client, scene: name, told, problems: isDeepStrictEqual(client.instead?.[name], told) ? [] : [error.message] }
}

function print (client: Client, outcomes: readonly Outcome[], duration: number): void {
  const bad = outcomes.filter(({ problems }) => problems.length > 0)
  console.log(
    `${bad.length === 0 ? 'ok    ' : 'not ok'} ${client.name} ${versionOf(client)}: ${outcomes.length} scenes ` +
      `in ${(duration / 1000).toFixed(1)} s`
  )
  for (const { scene, problems } of bad) {
    for (const problem of problems) fail(`  ${scene}: ${problem.replaceAll('\n', '\n  ')}`)
  }
}

function fail (message: string): void {
  console.log(message)
  process.exitCode = 1
}
