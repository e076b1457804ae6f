import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { call, seededData, readDemo, start } from './process.ts'

const WRITERS = 4

t.test('a process killed in the middle of writes loses no row that it acknowledged', async (t) => {
  const settings = await seededData(t)
  const acknowledged = new Map<string, string>()

  const first = await start(t, 'demo/start', settings)
  const { shops: [shop] } = readDemo(settings.DATA_DIR)
  const products = `/shops/${shop!.id}/products`
  const headers = { 'x-api-key': shop!.api_key }
  const write = async (writer: number): Promise<void> => {
    for (let count = 0; ; count++) {
      const name = `Row ${writer} ${count}`
      try {
        const made = await call('POST', first.baseUrl + products, { headers, body: { name } })
        if (made.status === 201) acknowledged.set(made.body.id, name)
        const changed = await call('PATCH', `${first.baseUrl}${products}/${made.body.id}`, { headers, body: { name: `${name} changed` } })
        if (changed.status === 200) acknowledged.set(made.body.id, `${name} changed`)
      } catch {
        return // the server is gone
      }
    }
  }
  const writers = Array.from({ length: WRITERS }, async (_, writer) => await write(writer))
  while (acknowledged.size < 50) await sleep(5)
  t.strictSame(await first.stop('SIGKILL'), { code: null, signal: 'SIGKILL' })
  await Promise.all(writers)

  const { baseUrl } = await start(t, 'demo/start', settings)
  t.ok(acknowledged.size >= 50)
  for (const [id, name] of acknowledged) {
    const row = await call('GET', `${baseUrl}${products}/${id}`, { headers })
    // A change that was on its way when the process died may have been kept, or not.
    t.ok(row.body.name === name || row.body.name === `${name} changed`, `${name} is there`)
  }
})
