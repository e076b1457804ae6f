import t from 'tap'
import { unwritten } from '../src/unwritten.ts'

const sums = () =>
  unwritten<{ readonly name: string, readonly calls: number }>(2, (row, other) => ({
    ...row,
    calls: row.calls + other.calls
  }))

t.test('rows of one name are written as one, once', async (t) => {
  const waiting = sums()
  for (const name of ['a', 'b', 'a']) waiting.add(name, { name, calls: 1 })
  const written: unknown[] = []
  const write = async (rows: readonly object[]) => {
    written.push(rows)
  }
  await waiting.flush(write)
  await waiting.flush(write)
  t.strictSame(written, [[{ name: 'a', calls: 2 }, { name: 'b', calls: 1 }]])
})

t.test('of more names than are kept, the first ones are written', async (t) => {
  const waiting = sums()
  for (const name of ['a', 'b', 'c', 'b']) waiting.add(name, { name, calls: 1 })
  await waiting.flush(async (rows) => {
    t.strictSame(rows, [{ name: 'a', calls: 1 }, { name: 'b', calls: 2 }])
  })
})

t.test('rows that could not be written wait together with those that came meanwhile', async (t) => {
  const waiting = sums()
  waiting.add('a', { name: 'a', calls: 1 })
  await t.rejects(
    waiting.flush(async () => {
      waiting.add('a', { name: 'a', calls: 10 })
      throw new Error('the database is away')
    }),
    { message: 'the database is away' }
  )
  await waiting.flush(async (rows) => {
    t.strictSame(rows, [{ name: 'a', calls: 11 }])
  })
  t.plan(2)
})

t.test('a row that could not be written is the earlier one of two', async (t) => {
  const waiting = unwritten<string>(2, (earlier, later) => `${earlier}, ${later}`)
  waiting.add('a', 'first')
  await t.rejects(waiting.flush(async () => {
    waiting.add('a', 'second')
    t.strictSame(waiting.get('a'), ['first', 'second'])
    throw new Error('the database is away')
  }))
  t.strictSame(waiting.get('a'), ['first, second'])
  t.plan(3)
})

t.test('what is being written is still known, until it is written', async (t) => {
  const waiting = sums()
  for (const name of ['a', 'b']) waiting.add(name, { name, calls: 1 })
  await waiting.flush(
    async (rows) => {
      t.strictSame(rows, [{ name: 'a', calls: 1 }], 'only what is wanted')
      t.strictSame(waiting.get('a'), [{ name: 'a', calls: 1 }])
      waiting.add('a', { name: 'a', calls: 10 })
      t.strictSame(waiting.get('a'), [{ name: 'a', calls: 1 }, { name: 'a', calls: 10 }])
      return 'stored'
    },
    ({ name }) => name === 'a',
    (result) => {
      t.equal(result, 'stored')
      t.strictSame(waiting.get('a'), [{ name: 'a', calls: 10 }])
    }
  )
  t.strictSame(waiting.get('b'), [{ name: 'b', calls: 1 }])
  t.strictSame(waiting.get('c'), [])
  t.plan(7)
})
