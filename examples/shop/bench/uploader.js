import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/*
 * `node uploader.js PORT AUTHORIZATION SHOP...`: sends files to imports that are wrong in expensive ways, eight at
 * once, from a process of its own: whole ones, such that arrive byte by byte, and such that end in the middle. It
 * prints the answers.
 */
const [port, authorization, ...shops] = process.argv.slice(2)
const FILE = 16 * 1_048_576 - 100
const filled = (text, start = '') => Buffer.from(start + text.repeat(Math.floor((FILE - start.length) / text.length)))
const files = {
  'empty lines': filled(',\n', 'name,sku\n'),
  'no line break': filled('a'),
  'a quote that is not closed': filled('""\n', 'name\n"'),
  'large cells': Buffer.from(
    'name,status\n' + Array.from({ length: 10_000 }, (_, n) => `P ${n},${'x'.repeat(1600)}\n`).join('')
  )
}

async function upload (what, shop, query, write) {
  return await new Promise((resolve) => {
    const sent = request({
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: `/shops/${shop}/imports?${query}`,
      headers: { authorization, 'content-type': 'text/csv', connection: 'close' }
    }, (response) => {
      response.resume().once('close', () => resolve(`${what}: ${response.statusCode}`))
    })
    sent.once('error', () => resolve(`${what}: closed`)).once('close', () => resolve(`${what}: closed`))
    write(sent).catch(() => {})
  })
}

const ways = {
  async whole (sent, file) {
    sent.end(file)
  },
  async slow (sent, file) {
    sent.write(file.subarray(0, 100_000))
    for (let n = 0; n < 60 && !sent.destroyed; n++) {
      sent.write(file.subarray(100_000 + n, 100_001 + n))
      await sleep(20)
    }
    sent.end()
  },
  async aborted (sent, file) {
    sent.write(file.subarray(0, FILE / 2))
    await sleep(300)
    sent.destroy()
  }
}

const answers = []
for (const [turn, [way, write]] of Object.entries(ways).entries()) {
  const all = [0, 1].flatMap((round) =>
    Object.entries(files).map(async ([what, file]) =>
      await upload(
        `${way}, ${what}`,
        shops[2 * turn + round],
        round === 0 ? 'skip_invalid=true' : 'dry_run=true',
        async (sent) => await write(sent, file)
      )
    )
  )
  answers.push(...await Promise.all(all))
}
process.stdout.write(JSON.stringify(answers))
