import { once } from 'node:events'
import { request } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import t from 'tap'
import { tasks } from '../../../src/extensions/tasks/index.ts'
import { listen, type Teardown } from '../../build.ts'
import { ask, startTask } from './jobs.ts'

// Two people whose work has the same path, as the path does not say whose it is, and a status route that waits.
const PEOPLE = ['ada', 'kim'] as const
type Person = typeof PEOPLE[number]

const personOf = ({ headers }: FastifyRequest): Person => headers['x-api-key'] as Person

async function workApp (t: Teardown) {
  const jobs = new Map<Person, 'working' | 'done' | 'cancelled'>()
  /** The reads of the status that wait; undefined: they do not wait. */
  let readings: Array<() => void> | undefined
  let onRead = (): void => {}
  const outer = new Map<Person, FastifyReply>()
  const { url } = await listen(t, (app) => {
    app.addHook('onRequest', async (request, reply) => {
      if (request.url === '/mcp') outer.set(personOf(request), reply)
    })
    const params = { type: 'object', properties: { id: { type: 'integer' } } }
    const schema = (operationId: string): object => ({ operationId, description: 'D.', tags: ['mcp'], params })
    app.post('/work', {
      schema: {
        operationId: 'start_job',
        description: 'D.',
        tags: ['mcp'],
        body: { type: 'object', properties: { shop: { type: 'string' } } }
      },
      config: { mcp: { task: { status: 'GET /work/:id' } } }
    }, async (request, reply) => {
      jobs.set(personOf(request), 'working')
      return await reply.code(202).header('location', '/work/1').send({})
    })
    app.get('/work/:id', { schema: schema('get_job') }, async (request) => {
      const person = personOf(request)
      if (readings !== undefined) {
        await new Promise<void>((resolve) => {
          readings!.push(resolve)
          onRead()
        })
      }
      return { status: jobs.get(person), message: `of ${person}` }
    })
    app.get(
      '/denied',
      { schema: { operationId: 'denied', description: 'D.', tags: ['mcp'] } },
      async (_, reply) => await reply.code(401).header('www-authenticate', 'Bearer realm="denied"').send({})
    )
    app.delete('/work/:id', { schema: schema('cancel_job') }, async (request, reply) => {
      jobs.set(personOf(request), 'cancelled')
      return await reply.code(204).send()
    })
  }, { extensions: [tasks()] })

  return {
    url,
    jobs,
    outer,
    /** From now on, reads wait. @returns waits until so many do */
    hold () {
      readings = []
      return async (count: number): Promise<void> =>
        await new Promise((resolve) => {
          onRead = () => {
            if (readings!.length === count) resolve()
          }
          onRead()
        })
    },
    release () {
      for (const go of readings ?? []) go()
      readings = undefined
    }
  }
}

for (const era of ['legacy', 'modern'] as const) {
  t.test(
    `${era}: two people read, cancel and end work of the same path, each their own`,
    { timeout: 20_000 },
    async (t) => {
      const { url, jobs, hold, release } = await workApp(t)
      const as = (person: Person) => ({ era, headers: { 'x-api-key': person } })
      const ids = {
        ada: await startTask(url, {}, as('ada')),
        kim: await startTask(url, {}, as('kim'))
      }
      const read = async (person: Person): Promise<unknown> => {
        const { result, error } = await ask(url, 'tasks/get', { taskId: ids[person] }, as(person))
        return error ?? `${String(result!['status'])} ${String(result!['statusMessage'])}`
      }
      let waiting = hold()
      const both = PEOPLE.map(read)
      await waiting(2)
      release()
      t.strictSame(await Promise.all(both), ['working of ada', 'working of kim'], 'both at once')

      waiting = hold()
      const ofKim = read('kim')
      await waiting(1)
      const cancelling = ask(url, 'tasks/cancel', { taskId: ids.ada }, as('ada'))
      await waiting(2)
      release()
      t.equal((await cancelling).error, undefined)
      t.equal(await ofKim, 'working of kim', 'somebody else cancels meanwhile')
      t.strictSame([...jobs.values()], ['cancelled', 'working'])
      jobs.set('kim', 'done')
      t.match(await Promise.all(PEOPLE.map(read)), [/^cancelled/, /^completed/])
    }
  )
}

for (const era of ['legacy', 'modern'] as const) {
  t.test(
    `${era}: a client that goes while it reads the status ends the read of nobody else`,
    { timeout: 20_000 },
    async (t) => {
      const { url, outer, hold, release } = await workApp(t)
      const as = (person: Person) => ({ era, headers: { 'x-api-key': person } })
      const ids = {
        ada: await startTask(url, {}, as('ada')),
        kim: await startTask(url, {}, as('kim'))
      }
      const waiting = hold()
      const ofKim = ask(url, 'tasks/get', { taskId: ids.kim }, as('kim'))
      await waiting(1)
      const modern = {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tasks/get',
        'mcp-name': ids.ada
      }
      const ofAda = request(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'x-api-key': 'ada',
          ...era === 'modern' ? modern : { 'mcp-protocol-version': '2025-11-25' }
        }
      })
      ofAda.on('error', () => {})
      ofAda.end(JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tasks/get',
        params: {
          taskId: ids.ada,
          ...era === 'modern' && {
            _meta: {
              'io.modelcontextprotocol/protocolVersion': '2026-07-28',
              'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } }
            }
          }
        }
      }))
      await waiting(2)
      const gone = once(outer.get('ada')!.raw, 'close')
      ofAda.destroy()
      await gone
      release()
      t.match(await ofKim, { result: { status: 'working', statusMessage: 'of kim' } })
    }
  )
}

for (const era of ['legacy', 'modern'] as const) {
  t.test(`${era}: what one call gets does not answer another one that waits`, { timeout: 20_000 }, async (t) => {
    const { url, hold, release } = await workApp(t)
    // With a parameter more, the SDK answers.
    const call = async (person: Person, name: string, args: object = {}) =>
      await ask(url, 'tools/call', { name, arguments: args, extra: 1 }, {
        era,
        headers: { 'x-api-key': person },
        tasks: name === 'start_job'
      })
    for (
      const [name, expected] of [
        ['start_job', { status: 200, result: era === 'modern' ? { resultType: 'task' } : { task: {} } }],
        ['denied', { status: 401 }]
      ] as const
    ) {
      const waiting = hold()
      const ofKim = call('kim', 'get_job', { id: 1 })
      await waiting(1)
      t.match(await call('ada', name), expected)
      release()
      t.match(await ofKim, { status: 200, result: { content: [{ text: /of kim/ }] } }, name)
    }
  })
}
