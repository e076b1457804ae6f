import { setImmediate as nextTurn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { callAs } from '../src/api/http.ts'
import { inTurn } from '../src/api/in-turn.ts'
import { saveChanges, type Versioned } from '../src/api/save.ts'

// Two people, two moments, and something that waits meanwhile.

interface Sent {
  readonly url: string
  readonly token: string
  readonly tag: string | undefined
  readonly ifMatch: string | undefined
  readonly data: unknown
  readonly answer: (status: number, body?: object, tag?: string) => void
}

/** A server whose answers wait until the test gives them. */
function server (t: Test) {
  const sent: Sent[] = []
  t.intercept(globalThis, 'navigator', { value: { onLine: true } })
  t.intercept(globalThis, 'fetch', {
    value: async (url: string, { headers, body }: { headers: Record<string, string>, body?: string }) =>
      await new Promise<Response>((resolve) => {
        sent.push({
          url,
          token: headers['authorization']!.split(' ')[1]!,
          tag: headers['if-none-match'],
          ifMatch: headers['if-match'],
          data: body === undefined ? undefined : JSON.parse(body),
          answer: (status, body, tag) => {
            resolve(
              new Response(body === undefined ? null : JSON.stringify(body), {
                status,
                headers: tag === undefined ? {} : { etag: tag }
              })
            )
          }
        })
      })
  })
  return {
    sent,
    /** The request with this number, once it is sent. */
    at: async (index: number): Promise<Sent> => {
      while (sent.length <= index) await nextTurn()
      return sent[index]!
    }
  }
}

const signedIn = (token: string) => callAs({ token: async () => token } as never)

t.test('what one person has read is no answer for another', async (t) => {
  const { at } = server(t)
  const [ada, kim] = [signedIn('ada'), signedIn('kim')]
  const first = ada('/members')
  ;(await at(0)).answer(200, { of: 'ada' }, '"1"')
  t.strictSame((await first).json, { of: 'ada' })
  const both = [ada('/members'), kim('/members')]
  const [again, other] = [await at(1), await at(2)]
  t.strictSame([[again.token, again.tag], [other.token, other.tag]], [['ada', '"1"'], ['kim', undefined]])
  other.answer(200, { of: 'kim' }, '"1"')
  again.answer(304)
  t.strictSame((await Promise.all(both)).map(({ json }) => json), [{ of: 'ada' }, { of: 'kim' }])
})

t.test('an answer of before that comes late replaces nothing that a page is told has not changed', async (t) => {
  const { at } = server(t)
  const call = signedIn('ada')
  const slow = call('/a')
  const late = await at(0)
  const read = call('/a')
  ;(await at(1)).answer(200, { n: 2 }, '"2"')
  t.strictSame((await read).json, { n: 2 })
  const again = call('/a')
  const asked = await at(2)
  t.equal(asked.tag, '"2"')
  late.answer(200, { n: 1 }, '"1"')
  t.strictSame((await slow).json, { n: 1 })
  asked.answer(304)
  t.strictSame((await again).json, { n: 2 })
  const next = call('/a')
  const last = await at(3)
  if (last.tag === '"2"') last.answer(304)
  else last.answer(200, { n: 2 }, '"2"')
  t.strictSame((await next).json, { n: 2 }, 'whichever is kept')
})

t.test('while a token is renewed for one read, another one waits for it', async (t) => {
  const { at, sent } = server(t)
  let token = 'old'
  const asked: Array<string | undefined> = []
  const call = callAs({
    token: async (refused: string | undefined) => {
      asked.push(refused)
      if (refused === token) token = 'new'
      return token
    }
  } as never)
  const reads = [call('/a'), call('/b')]
  for (const index of [0, 1]) (await at(index)).answer(401, {})
  for (const index of [2, 3]) {
    const { url, answer } = await at(index)
    answer(200, { url })
  }
  t.strictSame((await Promise.all(reads)).map(({ json }) => json), [{ url: '/a' }, { url: '/b' }])
  t.strictSame(sent.map(({ token }) => token), ['old', 'old', 'new', 'new'])
  t.strictSame(asked.filter((refused) => refused !== undefined), ['old', 'old'])
})

t.test('a form that others overtake twice puts nothing back that they removed', async (t) => {
  const { at } = server(t)
  const record = (version: string, fields: object): Versioned => ({ updated_at: version, ...fields })
  const saving = saveChanges(
    signedIn('ada'),
    '/products/1',
    record('1', { name: 'Kettle', sku: 'K', tag_ids: ['a', 'b', 'x'] }),
    { tag_ids: ['a', 'b', 'c'], name: 'Copper kettle' },
    async () => {
      t.fail('nobody is asked')
      return undefined
    }
  )
  const [first, second, third] = [
    record('2', { name: 'Kettle', sku: 'K-2', tag_ids: ['a', 'x'] }),
    record('3', { name: 'Kettle', sku: 'K-2', tag_ids: ['d', 'x'] }),
    record('4', { name: 'Copper kettle', sku: 'K-2', tag_ids: ['d', 'c'] })
  ]
  const written = []
  for (const [index, current] of [first, second].entries()) {
    const { ifMatch, data, answer } = await at(index)
    written.push([ifMatch, data])
    answer(412, { message: 'Others have changed this', current })
  }
  const { ifMatch, data, answer } = await at(2)
  written.push([ifMatch, data])
  answer(200, third)
  t.strictSame(await saving, third)
  t.strictSame(written, [
    ['"1"', { tag_ids: ['a', 'b', 'c'], name: 'Copper kettle' }],
    ['"2"', { tag_ids: ['a', 'c'], name: 'Copper kettle' }],
    ['"3"', { tag_ids: ['d', 'c'], name: 'Copper kettle' }]
  ])
})

t.test('work of many at once: what is under way when one fails is waited for, and counted', async (t) => {
  const going = new Map<string, (error?: Error) => void>()
  const working = inTurn(['a', 'b', 'c', 'd'], 2, async (item) => {
    await new Promise<void>((resolve, reject) => {
      going.set(item, (error) => {
        if (error === undefined) resolve()
        else reject(error)
      })
    })
  })
  let isOver = false
  const over = working.finally(() => {
    isOver = true
  }).catch((error: unknown) => error)
  going.get('b')!(new Error('b fails'))
  for (let turns = 0; turns < 10; turns++) await nextTurn()
  t.equal(isOver, false)
  going.get('a')!()
  t.match(await over, { message: 'b fails', done: ['a'], failures: [{ message: 'b fails' }] })
  t.strictSame([...going.keys()], ['a', 'b'], 'nothing else was begun')
})
