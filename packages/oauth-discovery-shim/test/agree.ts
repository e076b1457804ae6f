import { callbackFrom } from 'identity-provider'
import type { Test } from 'tap'
import { clients, doctor, type Reason } from '../src/doctor/index.ts'
import { ada } from './mcp-app.ts'
import { lines, memory } from './sdk.ts'

/** Reasons that a client itself does not see: the identity provider stops the person. */
const atTheProvider: ReadonlyArray<Reason | undefined> = ['scope', 'callback', 'provider', 'resource']

/** Whether the SDKs get as far at a server as the doctor says. */
export async function agree (t: Test, url: string): Promise<void> {
  for (const { id, name, attempt } of lines) {
    const [verdict] = await doctor(url, { only: clients.filter((client) => client.id === id) })
    const said = verdict?.obstacle?.reason

    const store = memory()
    const client = attempt(new URL(url), store)
    await t.rejects(client.connect())
    const [page] = store.redirects
    const arrived = page && await callbackFrom(page, ada).catch(() => undefined)
    const finished = arrived?.searchParams.has('code') &&
      await client.finish(arrived.searchParams).then(() => true, () => false)

    t.equal(finished === true, said === undefined, `${name}: ${said ?? 'reaches the sign-in page'}`)
    if (page === undefined) {
      t.notOk(atTheProvider.slice(0, 3).includes(said), `${name} was stopped before the provider`)
    } else if (!arrived?.searchParams.has('code')) {
      t.ok(atTheProvider.includes(said), `${name} was stopped by the provider`)
    }
  }
}
