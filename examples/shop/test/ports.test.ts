import { once } from 'node:events'
import { createServer } from 'node:http'
import t from 'tap'
import { freePortFrom } from '../src/demo/ports.ts'

t.test('a server at the port that was found can be reached by browsers, which refuse some', async (t) => {
  const port = await freePortFrom(10_080)
  const server = createServer((_, response) => response.end('here')).listen(port, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  t.equal(await (await fetch(`http://127.0.0.1:${port}`, { headers: { connection: 'close' } })).text(), 'here')
})
