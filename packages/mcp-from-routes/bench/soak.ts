// npm run soak [-- calls [clients]]: many calls leave memory flat, and clients that vanish leave nothing open.
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { launch, loadAmount, stop, usage, type Running } from './load.ts'
import { CALL } from './messages.ts'

const [calls = 1_000_000, clients = 1000] = process.argv.slice(2).map(Number)
const STEPS = 10

const running = await launch('mcp-from-routes', 20)
const heaps: number[] = []
for (let step = 1; step <= STEPS; step++) {
  await loadAmount(running, CALL, calls / STEPS)
  const { heapUsed, rss } = (await usage(running, { collect: true })).memory
  heaps.push(heapUsed)
  console.log(`${step * calls / STEPS} calls: heap ${megabytes(heapUsed)}, resident ${megabytes(rss)}`)
}
// The first step fills caches and compiles. A leak of 100 bytes a call would add 90 MB over the other nine.
const growth = (heaps.at(-1) ?? 0) - (heaps[0] ?? 0)
console.log(`heap after the last step is ${megabytes(growth)} larger than after the first`)

const before = (await usage(running, { collect: true })).handles
for (let n = 0; n < clients; n += 50) {
  await Promise.all(Array.from({ length: Math.min(50, clients - n) }, () => vanish(running)))
}
await delay(500)
const after = (await usage(running, { collect: true })).handles
console.log(`open handles before ${clients} clients vanished in the middle of a call: ${before}, after: ${after}`)
const closing = performance.now()
await stop(running)
console.log(`closed in ${Math.round(performance.now() - closing)} ms`)
if (growth > 20_000_000 || after > before) process.exitCode = 1

/** A client that sends a call of a tool that takes long, of either era, and goes. */
async function vanish ({ address }: Running): Promise<void> {
  const modern = Math.random() < 0.5
  const meta = modern
    ? {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {}
      }
    }
    : {}
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow', ...meta } })
  const headers = modern ? 'mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: slow\r\n' : ''
  const { port } = new URL(address)
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(
        'POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ' +
          `${message.length}\r\n${headers}\r\n${message}`
      )
      setTimeout(() => socket.destroy(), 20)
    })
    socket.on('close', () => resolve()).on('error', () => {})
  })
}

function megabytes (bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}
