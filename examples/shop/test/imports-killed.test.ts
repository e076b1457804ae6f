import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { machineToken } from '../src/demo/keys.ts'
import { call, readDemo, seededData, start } from './process.ts'

t.setTimeout(600_000)

/** Products of the file; .ci/run sets more. */
const SIZE = Math.max(1500, Math.min(10_000, Number(process.env['BULK_SIZE'] ?? 0) * 10))
const KILLS = 2

interface Server {
  readonly imports: string
  readonly history: string
  readonly products: string
  readonly tags: string
  readonly headers: Readonly<Record<string, string>>
  readonly kill: () => Promise<unknown>
}

async function open (t: Test, settings: Awaited<ReturnType<typeof seededData>>): Promise<Server> {
  const { baseUrl, stop } = await start(t, 'demo/start', settings)
  const { shops: [shop], idp } = readDemo(settings.DATA_DIR)
  const url = `${baseUrl}/shops/${shop!.id}`
  const headers = { authorization: `Bearer ${await machineToken(idp)}` }
  return {
    imports: `${url}/imports`,
    history: `${url}/history`,
    products: `${url}/products`,
    tags: `${url}/tags`,
    headers,
    kill: async () => await stop('SIGKILL')
  }
}

async function countOf (list: string, headers: Server['headers']): Promise<number> {
  const { status, headers: answered } = await call('GET', `${list}${list.includes('?') ? '&' : '?'}limit=1`, {
    headers
  })
  if (status !== 200) throw new Error(String(status))
  return Number(answered.get('content-range')!.split('/')[1])
}

const ofImport = (history: string, action: string): string =>
  `${history}?filter=${encodeURIComponent(JSON.stringify({ operation: 'import_products', action }))}`

/** Creates tags and renames them, until the server is gone. */
async function write (server: Server, acknowledged: Map<string, string>): Promise<void> {
  for (let count = 0;; count++) {
    try {
      const made = await call('POST', server.tags, { headers: server.headers, body: { name: `Tag ${count}` } })
      if (made.status === 201) acknowledged.set(made.body.id, `Tag ${count}`)
      const changed = await call('PATCH', `${server.tags}/${made.body.id}`, {
        headers: server.headers,
        body: { name: `Tag ${count} changed` }
      })
      if (changed.status === 200) acknowledged.set(made.body.id, `Tag ${count} changed`)
    } catch {
      return
    }
  }
}

t.test(`the server is killed ${KILLS} times in an import: no product twice or missing, undone as one`, async (t) => {
  const settings = await seededData(t)
  let server = await open(t, settings)
  const before = await countOf(server.products, server.headers)
  const file = ['name,sku,price_amount', ...Array.from({ length: SIZE }, (_, n) => `Imported ${n},IMP-${n},${n}`)].join(
    '\n'
  )
  const sent = await fetch(server.imports, {
    method: 'POST',
    headers: { ...server.headers, 'content-type': 'text/csv' },
    body: file
  })
  const { id } = await sent.json() as { id: string }
  t.equal(sent.status, 202)
  const acknowledged = new Map<string, string>()
  const writing = write(server, acknowledged)

  for (let kills = 1; kills <= KILLS; kills++) {
    const enough = SIZE * kills / (KILLS + 2)
    let processed = 0
    while (processed < enough) {
      const { body } = await call('GET', `${server.imports}/${id}`, { headers: server.headers })
      processed = body.processed
      if (processed < enough) await sleep(20)
    }
    t.comment(`killed after ${processed} of ${SIZE}`)
    await server.kill()
    server = await open(t, settings)
  }
  const { headers } = server
  await writing
  t.ok(acknowledged.size > 0)
  for (const [id, name] of acknowledged) {
    const { body } = await call('GET', `${server.tags}/${id}`, { headers })
    // A change that was on its way when the process died may have been kept, or not.
    t.ok(body.name === name || body.name === `${name} changed`, `${name} is there`)
  }
  let body: { status: string, [name: string]: unknown } = { status: 'running' }
  while (['pending', 'running'].includes(body.status)) {
    ;({ body } = await call('GET', `${server.imports}/${id}`, { headers }))
    await sleep(20)
  }
  t.match(
    body,
    { status: 'done', total: SIZE, processed: SIZE, created: SIZE, updated: 0, unchanged: 0, failed: 0 },
    JSON.stringify(body)
  )
  t.equal(await countOf(server.products, headers), before + SIZE)
  t.equal(await countOf(ofImport(server.history, 'create'), headers), SIZE, 'each has one entry in the history')
  t.equal(await countOf(ofImport(server.history, 'update'), headers), 0)
  t.equal(
    await countOf(`${server.imports}/${id}/lines?filter=${encodeURIComponent('{"status":"created"}')}`, headers),
    SIZE
  )

  const undone = await call('POST', `${server.history}/revert`, { headers, body: { import_id: id } })
  t.match(
    [undone.status, undone.body.reverted, undone.body.conflict_count],
    [200, SIZE, 0],
    JSON.stringify(undone.body).slice(0, 300)
  )
  t.equal(await countOf(server.products, headers), before)
})
