// Sends what it is told to, when it is due, and says how long each call took. In a process of its own, with a client
// that does little: whatever this takes of the processors the server waits for.
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { Pool } from 'undici'
import type { Batch, DueCall } from './steady.ts'

const CONNECTIONS = 64
/** As many as the shop has. */
const DATABASE_CONNECTIONS = 10

/** Where calls go. */
interface Target {
  readonly send: (call: DueCall) => Promise<void>
  readonly close: () => Promise<void>
}

process.on('message', ({ target, calls }: Batch) => {
  latencies(target, calls).then((answered) => process.send?.(answered), (error: unknown) => {
    console.error(error)
    process.exit(1)
  })
})
process.on('disconnect', () => {
  process.exit()
})

async function latencies (target: string, calls: readonly DueCall[]): Promise<number[]> {
  const { send, close } = target.startsWith('http') ? server(target) : await database(target)
  const start = performance.now()
  const answers: Array<Promise<number>> = []
  for (const call of calls) {
    const due = start + call.due
    // Waiting ends some milliseconds late: a call that was due before it is measured from when it was due.
    if (due > performance.now()) await delay(due - performance.now())
    answers.push(send(call).then(() => performance.now() - due))
  }
  const all = await Promise.all(answers)
  await close()
  return all
}

/** Throws a RangeError when an answer is no 2xx. */
function server (address: string): Target {
  const pool = new Pool(address, { connections: CONNECTIONS })
  return {
    async send ({ request }) {
      const { statusCode, body } = await pool.request(request!)
      await body.dump()
      if (statusCode > 299) throw new RangeError(`answered ${statusCode}`)
    },
    close: async () => {
      await pool.close()
    }
  }
}

/** A call is a row, which commits. */
async function database (url: string): Promise<Target> {
  const pool = new pg.Pool({ connectionString: url, max: DATABASE_CONNECTIONS })
  await pool.query('create table if not exists commits (at timestamptz default now())')
  return {
    send: async () => {
      await pool.query('insert into commits default values')
    },
    close: async () => {
      await pool.end()
    }
  }
}
