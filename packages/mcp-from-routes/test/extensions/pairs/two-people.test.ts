import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import t from 'tap'
import { confirm, type ConfirmStore } from '../../../src/extensions/confirm/index.ts'
import { search } from '../../../src/extensions/search/index.ts'
import { CLIENTS, connect, listen, post } from '../../build.ts'
import { asked, callOf, round, told, YES } from '../confirm/rounds.ts'

// Two people, two moments, and something that waits meanwhile.
const PEOPLE = ['ada', 'kim'] as const

const personOf = ({ headers }: FastifyRequest): string => String(headers['x-api-key'])

/** A place where everybody waits until both people are there; it is empty again for the next time. */
function meeting () {
  const there = new Set<string>()
  return {
    clear: () => there.clear(),
    wait: async (person: string): Promise<void> => {
      there.add(person)
      while (there.size < PEOPLE.length) await nextTurn()
    }
  }
}

/** Tools of one person each, and one of both that says whose call it was. */
function tools (wait: (person: string) => Promise<void>) {
  return (app: FastifyInstance): void => {
    for (const name of ['of_ada', 'of_kim', 'shared']) {
      app.post(`/:shop/${name}`, {
        schema: {
          operationId: name,
          description: `Sells kettles, ${name}.`,
          tags: ['mcp'],
          params: { type: 'object', properties: { shop: { type: 'string' } } },
          body: { type: 'object', properties: { n: { type: 'integer' } } }
        }
      }, async (request) => {
        await wait(personOf(request))
        return {
          person: personOf(request),
          shop: (request.params as { shop: string }).shop,
          n: (request.body as { n: number }).n
        }
      })
    }
  }
}

/** What both people get at the same time. */
const both = async <Result>(work: (person: typeof PEOPLE[number]) => Promise<Result>): Promise<Result[]> =>
  await Promise.all(PEOPLE.map(work))

/** A message as a client of either revision sends it. */
const ERAS = {
  2025: async (url: URL, person: string, method: string, params: object = {}) =>
    await post(url, { jsonrpc: '2.0', id: 1, method, params }, { 'x-api-key': person }),
  2026: async (url: URL, person: string, method: string, params: { readonly name?: string } = {}) => {
    const { message, headers } = callOf(params.name ?? '', {})
    const { _meta } = (message as { params: { _meta: object } }).params
    const { 'mcp-name': _name, ...others } = headers
    return await post(url, { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }, {
      ...others,
      'mcp-method': method,
      ...params.name !== undefined && { 'mcp-name': params.name },
      'x-api-key': person
    })
  }
}

for (const [era, send] of Object.entries(ERAS)) {
  t.test(`two people list, search and call at once, and again: each sees and does their own, in ${era}`, async (t) => {
    const rights = meeting()
    const work = meeting()
    const { url } = await listen(t, tools(work.wait), {
      extensions: [search({ path: '/mcp/search' })],
      canUse: async ({ name }, request) => {
        const person = personOf(request)
        await rights.wait(person)
        return name === 'shared' || name === `of_${person}`
      },
      // Ada has one shop, and kim says which one.
      impliedArguments: { shop: (request) => personOf(request) === 'ada' ? 'one' : undefined }
    })
    const resultOf = async (answer: Awaited<ReturnType<typeof post>>) =>
      (answer.body as { result: Record<string, any> }).result

    for (const moment of ['while both wait', 'and from memory']) {
      rights.clear()
      const lists = await both(async (person) => await resultOf(await send(url, person, 'tools/list')))
      t.strictSame(
        lists.map(({ tools }) => tools.map(({ name }: { name: string }) => name)),
        [['of_ada', 'shared'], ['of_kim', 'shared']],
        `lists, ${moment}`
      )
      t.strictSame(
        lists.map(({ tools }) => tools[1].inputSchema.required ?? []),
        [[], ['shop']],
        `what is implied, ${moment}`
      )
      rights.clear()
      const found = await both(async (person) =>
        await resultOf(
          await send(new URL('/mcp/search', url), person, 'tools/call', {
            name: 'search_tools',
            arguments: { query: 'kettles' }
          } as { name: string })
        )
      )
      t.strictSame(
        found.map(({ content }) => ['of_ada', 'of_kim', 'shared'].filter((name) => content[0].text.includes(name))),
        [['of_ada', 'shared'], ['of_kim', 'shared']],
        `found, ${moment}`
      )
      rights.clear()
      work.clear()
      const done = await both(async (person) =>
        await resultOf(
          await send(url, person, 'tools/call', {
            name: 'shared',
            arguments: person === 'ada' ? { n: 1 } : { shop: 'two', n: 2 }
          } as { name: string })
        )
      )
      t.strictSame(
        done.map(({ content }) => JSON.parse(content[0].text)),
        [{ person: 'ada', shop: 'one', n: 1 }, { person: 'kim', shop: 'two', n: 2 }],
        `done, ${moment}`
      )
      rights.clear()
      const others = await both(async (person) =>
        (await send(url, person, 'tools/call', {
          name: person === 'ada' ? 'of_kim' : 'of_ada',
          arguments: { shop: 'one', n: 1 }
        } as { name: string })).body
      )
      t.ok(others.every((body) => !JSON.stringify(body).includes('person')), `nobody does what others may, ${moment}`)
    }
  })
}

for (const client of CLIENTS) {
  t.test(`two people with the official client ${client} at once: each gets their own answers`, async (t) => {
    const work = meeting()
    const { url } = await listen(t, tools(work.wait), {
      canUse: async ({ name }, request) => name === 'shared' || name === `of_${personOf(request)}`
    })
    const clients = await both(async (person) => await connect(t, client, url, { 'x-api-key': person }))
    for (const n of [1, 2]) {
      work.clear()
      const answers = await Promise.all(
        clients.map(async (one, index) => await one.callTool({ name: 'shared', arguments: { shop: String(index), n } }))
      )
      t.strictSame(
        answers.map(({ content }) => JSON.parse((content as Array<{ text: string }>)[0]!.text)),
        PEOPLE.map((person, index) => ({ person, shop: String(index), n }))
      )
      const lists = await Promise.all(clients.map(async (one) => (await one.listTools()).tools.map(({ name }) => name)))
      t.strictSame(lists, [['of_ada', 'shared'], ['of_kim', 'shared']])
    }
  })
}

t.test('while the confirmation of one person is stored, another one confirms, and each counts once', async (t) => {
  const used = new Set<string>()
  const begun: string[] = []
  let letGo = (): void => {}
  const opened = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const store: ConfirmStore = {
    async use (id) {
      begun.push(id)
      if (begun.length === 1) await opened
      if (used.has(id)) return false
      used.add(id)
      return true
    }
  }
  const ran: string[] = []
  const { url } = await listen(t, (app) => {
    app.post('/drop', {
      schema: { operationId: 'drop', description: 'D.', tags: ['mcp'] },
      config: { mcp: { confirm: () => 'Drop your things?' } }
    }, async (request) => {
      ran.push(personOf(request))
      return 'done'
    })
  }, { extensions: [confirm({ store, secret: 'a secret that two replicas share.' })] })
  const call = async (person: string, more: object = {}) =>
    await round(url, 'drop', { headers: { 'x-api-key': person }, ...more })
  const questions = await both(async (person) => await call(person))
  t.strictSame(questions.map(asked), ['Drop your things?', 'Drop your things?'])
  const [ofAda, ofKim] = questions.map(({ requestState: state }) => ({ state, answer: YES })) as [object, object]
  const waiting = call('ada', ofAda)
  while (begun.length === 0) await nextTurn()
  t.equal(asked(await call('kim', ofAda)), 'Drop your things?', 'the answer of another one is none')
  t.match(told(await call('kim', ofKim)), /^200|^done|done/)
  t.strictSame(ran, ['kim'])
  letGo()
  t.match(told(await waiting), /done/)
  t.strictSame(ran, ['kim', 'ada'])
  for (const [person, answer] of [['ada', ofAda], ['kim', ofKim]] as const) {
    t.equal(asked(await call(person, answer)), 'Drop your things?', 'it is asked again')
  }
  t.strictSame(ran, ['kim', 'ada'])
})
