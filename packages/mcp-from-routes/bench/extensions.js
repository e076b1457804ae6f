// node bench/extensions.js [ROOM...], after a build: what each extension costs a plain call, and a call that uses it,
// in microseconds of processor time. Each room has a process, in which an app with it and one without take turns for a
// few hundred calls; what counts is the median of the differences. Ends with 2 if two apps that are alike differ.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Fastify from 'fastify'
import mcpFromRoutes from '../dist/index.js'

const CALLS = 400
const ROUNDS = 200
const WARM_UP = 6000
/** How far two apps that are alike may be apart, in microseconds. */
const TOLERANCE = 1

const records = Array.from({ length: 20 }, (_, id) => ({ id, name: `Record ${id}`, note: 'a note' }))
const record = {
  type: 'object',
  properties: { id: { type: 'integer' }, name: { type: 'string' }, note: { type: 'string' } }
}
const call = (name, args = {}) => ({ method: 'tools/call', params: { name, arguments: args } })
const PLAIN = call('get_thing', { id: 'abc' })
const tool = (operationId, more = {}) => ({ operationId, description: 'D.', tags: ['mcp', 'some'], ...more })

/**
 * How each room is used: its extension; what the route says for it; and the call that uses it, compared with the same
 * route without it.
 */
const ROOMS = {
  alike: async () => ({}),
  confirm: async () => {
    const { confirm } = await import('../dist/extensions/confirm/index.js')
    return { extension: confirm({ fallback: 'allow' }), mcp: { confirm: () => 'Really?' }, used: call('use') }
  },
  tasks: async () => {
    const { tasks } = await import('../dist/extensions/tasks/index.js')
    return { extension: tasks(), mcp: { task: { status: 'GET /works/:id' } }, used: call('use') }
  },
  fields: async () => {
    const { fields } = await import('../dist/extensions/fields/index.js')
    return { extension: fields(), used: call('list', { fields: ['id'] }), as: call('list') }
  },
  sets: async () => {
    const { sets } = await import('../dist/extensions/sets/index.js')
    return { extension: sets({ some: { path: '/mcp/some', tags: ['some'] } }), used: PLAIN, as: PLAIN, at: '/mcp/some' }
  },
  search: async () => {
    const { search } = await import('../dist/extensions/search/index.js')
    const used = call('call_reading_tool', { name: 'get_thing', arguments: { id: 'abc' } })
    return { extension: search({ path: '/mcp/search' }), used, as: PLAIN, at: '/mcp/search' }
  },
  resources: async () => {
    const { resources } = await import('../dist/extensions/resources/index.js')
    const uri = 'bench://page'
    const page = { tags: ['mcp-resource'], mcp: { resource: { uri, name: 'page' } } }
    return { extension: resources(), page, used: { method: 'resources/read', params: { uri } }, as: call('page') }
  },
  views: async () => {
    const { views } = await import('../dist/extensions/views/index.js')
    const page = { tags: ['mcp-resource'], mcp: { resource: { uri: 'ui://bench/page', name: 'page' } } }
    return { extension: views(), page, mcp: { view: 'GET /page' }, used: call('use') }
  },
  skills: async (folder) => {
    const { skills } = await import('../dist/extensions/skills/index.js')
    mkdirSync(join(folder, 'one'))
    const shown = '```json mcp-call\n{ "name": "use", "arguments": {} }\n```'
    writeFileSync(join(folder, 'one/SKILL.md'), `---\nname: one\ndescription: D.\n---\n${shown}\n`)
    return { extension: skills(folder), used: call('use') }
  },
  card: async () => {
    const { card } = await import('../dist/extensions/card/index.js')
    return { extension: card({ name: 'com.example/bench', description: 'A bench.' }) }
  },
  telemetry: async () => {
    const { NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node')
    const { telemetry } = await import('../dist/extensions/telemetry/index.js')
    const provider = new NodeTracerProvider()
    provider.register()
    return { extension: telemetry({ tracer: provider.getTracer('bench') }) }
  },
  review: async (folder) => {
    const { review } = await import('../dist/extensions/review/index.js')
    const file = join(folder, 'mcp-routes.json')
    writeFileSync(file, JSON.stringify({ review: 1, routes: [{ route: 'POST /use', publish: true, name: 'use' }] }))
    return { extension: review(file), used: call('use') }
  }
}

/** @returns sends a message to an app, and fails if it is not answered with a result */
async function appWith ({ extension, mcp = {}, page = {} } = {}) {
  const app = Fastify()
  await app.register(mcpFromRoutes, {
    serverInfo: { name: 'bench', version: '1.0.0' },
    extensions: extension === undefined ? [] : [extension]
  })
  const id = { type: 'object', properties: { id: { type: 'string' } } }
  app.get(
    '/things/:id',
    { schema: tool('get_thing', { params: id, response: { 200: record } }) },
    async () => records[0]
  )
  app.get(
    '/list',
    { schema: tool('list', { response: { 200: { type: 'array', items: record } } }) },
    async () => records
  )
  app.post(
    '/use',
    { schema: tool('use'), config: { mcp } },
    async (_request, reply) => reply.code(202).header('location', '/works/1').send({ id: 1 })
  )
  app.get('/works/:id', { schema: tool('get_work', { params: id }) }, async () => ({ status: 'done' }))
  const html = { response: { 200: { content: { 'text/html': { schema: { type: 'string' } } } } } }
  const tags = page.tags ?? ['mcp']
  app.get(
    '/page',
    { schema: tool('page', { ...html, tags }), config: { mcp: page.mcp ?? {} } },
    async (_request, reply) => reply.type('text/html').send('<!doctype html>')
  )
  await app.ready()
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25'
  }
  return {
    sender (message, url = '/mcp') {
      const payload = JSON.stringify({ jsonrpc: '2.0', id: 1, ...message })
      return async () => {
        const { statusCode, payload: text } = await app.inject({ method: 'POST', url, headers, payload })
        if (statusCode !== 200 || !text.includes('"result"') || text.includes('"isError"')) throw new Error(text)
      }
    },
    close: () => app.close()
  }
}

async function run (send, count) {
  const start = process.cpuUsage()
  for (let index = 0; index < count; index++) await send()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / count
}

/** The median of what one costs more than the other, and how far the middle half of the rounds is apart. */
async function difference (one, other) {
  await run(one, WARM_UP)
  await run(other, WARM_UP)
  const differences = []
  for (let round = 0; round < ROUNDS; round++) {
    const [first, second] = round % 2 === 0 ? [one, other] : [other, one]
    const [a, b] = [await run(first, CALLS), await run(second, CALLS)]
    differences.push(round % 2 === 0 ? a - b : b - a)
  }
  differences.sort((a, b) => a - b)
  const at = (part) => differences[Math.floor(part * (ROUNDS - 1))]
  return { median: at(0.5), spread: at(0.75) - at(0.25) }
}

async function measure (room) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-extensions-'))
  try {
    const { used, as = used, at, ...app } = await ROOMS[room](folder)
    const [having, bare] = [await appWith(app), await appWith()]
    const plain = await difference(having.sender(PLAIN), bare.sender(PLAIN))
    const own = used && await difference(having.sender(used, at), bare.sender(as))
    await having.close()
    await bare.close()
    console.log(JSON.stringify({ plain, own }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const shown = (cost) => cost === undefined ? '–' : `${cost.median.toFixed(1)} (±${(cost.spread / 2).toFixed(1)})`

function main (rooms) {
  const costs = {}
  for (const room of ['alike', ...rooms]) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [fileURLToPath(import.meta.url), '--measure', room],
      {
        encoding: 'utf8'
      }
    )
    if (status !== 0) {
      console.error(`${room} could not be measured: ${stderr}`)
      process.exitCode = 2
      return
    }
    const { plain, own } = JSON.parse(stdout)
    costs[room] = { 'a plain call, µs': shown(plain), 'a call that uses it, µs': shown(own) }
    if (room === 'alike' && Math.abs(plain.median) > TOLERANCE) process.exitCode = 2
  }
  console.table(costs)
  console.log(
    `load ${loadavg()[0].toFixed(1)}, Node.js ${process.version}, medians of ${ROUNDS} pairs of ${CALLS} calls`
  )
  if (process.exitCode === 2) console.error('Not measured: two apps that are alike differ. Try again when less runs.')
}

const [first, ...others] = process.argv.slice(2)
if (first === '--measure') await measure(others[0])
else main(first === undefined ? Object.keys(ROOMS).slice(1) : [first, ...others])
