import { createServer } from 'node:http'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { type Database, openPostgres } from '../src/database/index.ts'
import { migrate } from '../src/migrations/migrate.ts'
import { health } from '../src/operations/health.ts'
import { drainable } from '../src/operations/shutdown.ts'
import { answerProblems } from '../src/http/problem.ts'
import { build, openIdentityProvider, openTestDatabase } from './build.ts'
import { startPostgres, withoutPostgres } from './postgres.ts'

/** For the tests that leave it as it was. */
const database = await openTestDatabase(t)

const BARE = { database: 'ok', migrations: 'ok', identity_provider: 'ok', shutdown: 'ok' }
const READY = { ...BARE, secrets: 'not compared yet' }

t.test('the process is up, and ready when everything that it needs is there', async (t) => {
  const app = await build(t, database, await openIdentityProvider(t))
  const up = await app.inject('/healthz?t=%00')
  t.strictSame([up.statusCode, up.json(), up.headers['cache-control']], [200, { status: 'ok' }, 'no-store'])
  const ready = await app.inject('/readyz')
  t.strictSame([ready.statusCode, ready.json()], [200, { status: 'ready', checks: READY }])
})

t.test('a migration that is missing is named', async (t) => {
  const database = await openTestDatabase(t)
  const app = await build(t, database, await openIdentityProvider(t))
  await database.knex('knex_migrations').where({ name: '002-usage' }).delete()
  const { statusCode, body } = await app.inject('/readyz')
  t.strictSame([statusCode, JSON.parse(body)], [503, {
    status: 'not ready',
    checks: { ...READY, migrations: 'pending: 002-usage' }
  }])
  t.equal((await app.inject('/healthz')).statusCode, 200, 'the process is up all the same')
})

t.test('a migration that another program made is named, and is no outage of the database', async (t) => {
  const database = await openTestDatabase(t)
  const app = await build(t, database, await openIdentityProvider(t))
  await database.knex('knex_migrations').insert({ name: '001-others' })
  const { statusCode, body } = await app.inject('/readyz')
  t.match([statusCode, JSON.parse(body).checks], [503, {
    database: 'ok',
    migrations: /^The database has the migration 001-others, which this version does not know/
  }])
})

t.test('a server that starts without the identity provider takes API keys, and says what is missing', async (t) => {
  const idp = await openIdentityProvider(t)
  await idp.close()
  const app = await build(t, database, idp)
  const { statusCode, body } = await app.inject('/readyz')
  t.strictSame([statusCode, JSON.parse(body)], [200, {
    status: 'ready',
    checks: { ...READY, identity_provider: 'its keys could not be read yet: only API keys are accepted' }
  }])
})

t.test('an identity provider that goes away later, and a payment provider that is away, change nothing', async (t) => {
  const pay = createServer().listen(0, '127.0.0.1')
  await once(pay, 'listening')
  const { port } = pay.address() as AddressInfo
  pay.close()
  const idp = await openIdentityProvider(t)
  const app = await build(t, database, idp, { settings: { PAY_API_URL: `http://127.0.0.1:${port}` } })
  await idp.close()
  t.equal((await app.inject('/readyz')).statusCode, 200)
})

/** @returns the routes on a database of which only the queries are real */
async function routes (t: Test, database: Database, timeLimit?: number) {
  const app = Fastify()
  t.teardown(async () => await app.close())
  app.decorate('dualAuthReady', () => true)
  drainable(app)
  await app.register(health, { database, ...(timeLimit && { timeLimit }) })
  return app
}

t.test('a database that does not answer does not keep the probe waiting', async (t) => {
  const app = await routes(t, {
    ...database,
    knex: Object.assign(() => {}, {
      on: () => {},
      removeListener: () => {},
      raw: async () => await new Promise(() => {})
    }) as never
  }, 50)
  const { statusCode, body } = await app.inject('/readyz')
  t.strictSame([statusCode, JSON.parse(body)], [503, {
    status: 'not ready',
    checks: { ...BARE, database: 'no answer within 50 ms', migrations: 'unknown' }
  }])
})

t.test('a database that is away is told without its address, and readiness comes back with it', async (t) => {
  let away = true
  const knex = new Proxy(database.knex, {
    get: (target, name) =>
      away && name === 'raw'
        ? async () => {
          throw new Error('connect ECONNREFUSED 10.1.2.3:5432')
        }
        : Reflect.get(target, name)
  })
  const app = await routes(t, { ...database, knex })
  const first = await app.inject('/readyz')
  t.strictSame([first.statusCode, first.json().checks.database], [503, 'it cannot be reached'])
  away = false
  let status = 503
  while (status === 503) {
    await sleep(50)
    status = (await app.inject('/readyz')).statusCode
  }
  t.equal(status, 200)
})

t.test('a full disk is 503 for the call and for readiness, until a write succeeds again', async (t) => {
  const database = await openTestDatabase(t)
  const { knex } = database
  const app = await routes(t, database)
  answerProblems(app)
  app.post('/write', async () => await knex('users').insert({ subject: 'someone' }))
  const readiness = async () => {
    // Longer than an answer serves further probes.
    await sleep(600)
    const { statusCode, body } = await app.inject('/readyz')
    return [statusCode, JSON.parse(body).checks.database]
  }
  await knex.raw(`
    create function disk_full () returns trigger language plpgsql as $$ begin
      raise exception 'could not extend file' using errcode = 'disk_full';
    end $$;
    create trigger disk_full before insert on users execute function disk_full ();
    create function disk_still_full () returns event_trigger language plpgsql as $$ begin
      raise exception 'could not extend file' using errcode = 'disk_full';
    end $$;
    create event trigger disk_still_full on ddl_command_start when tag in ('CREATE TABLE AS')
      execute function disk_still_full ()`)
  t.strictSame(await readiness(), [200, 'ok'], 'no write was tried yet')
  const { statusCode, headers, body } = await app.inject({ method: 'POST', url: '/write' })
  t.match([statusCode, headers['retry-after'], JSON.parse(body).code], [503, '5', 'SHOP_DATABASE_UNAVAILABLE'])
  t.strictSame(await readiness(), [503, 'its disk is full'])
  t.strictSame(await readiness(), [503, 'its disk is full'], 'as long as it is')
  await knex.raw('drop event trigger disk_still_full')
  t.strictSame(await readiness(), [200, 'ok'])
})

t.test('a disk is full until there is room where the tables are, wherever temporary tables are', {
  skip: withoutPostgres
}, async (t) => {
  const { superuser } = await startPostgres(t, { settings: { allow_in_place_tablespaces: 'on' } })
  const admin = openPostgres(superuser)
  t.teardown(async () => await admin.close())
  await migrate(admin)
  await admin.knex.raw("create tablespace elsewhere location ''")
  await admin.knex.raw(`
    alter role postgres set temp_tablespaces = elsewhere;
    create function no_room () returns event_trigger language plpgsql as $$ begin
      if exists (select from pg_event_trigger_ddl_commands() made join pg_class on oid = made.objid
        where relkind = 'r' and reltablespace = 0) then
        raise exception 'could not extend file' using errcode = 'disk_full';
      end if;
    end $$;
    create event trigger no_room on ddl_command_end when tag in ('CREATE TABLE AS') execute function no_room ()`)
  const database = openPostgres(superuser)
  t.teardown(async () => await database.close())
  const app = await routes(t, database)
  await t.rejects(
    database.knex.raw("do $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$")
  )
  t.equal((await app.inject('/readyz')).json().checks.database, 'its disk is full')
  await admin.knex.raw('drop event trigger no_room')
  await sleep(600)
  t.equal((await app.inject('/readyz')).json().checks.database, 'ok')
})

t.test('a flood of probes is one look at the database', async (t) => {
  await migrate(database)
  const app = await routes(t, database)
  let queries = 0
  database.knex.on('query', () => {
    queries += 1
  })
  const statuses = await Promise.all(Array.from({ length: 50 }, async () => (await app.inject('/readyz')).statusCode))
  t.strictSame([new Set(statuses), queries], [new Set([200]), 3])
})

t.test('a server that drains says so first, then takes no connections, and ends the calls in flight', async (t) => {
  const app = await routes(t, database)
  const [mayEnd, end] = signal()
  const [begun, begin] = signal()
  app.get('/slow', async () => {
    begin()
    await mayEnd
    return 'done'
  })
  app.get('/fast', async () => 'done')
  const base = await app.listen({ host: '127.0.0.1', port: 0 })
  const slow = fetch(`${base}/slow`)
  await begun

  let drained = false
  const drain = app.shutdown.drain(3_000, 60_000).then(() => {
    drained = true
  })
  const leaving = await fetch(`${base}/readyz`)
  t.strictSame([leaving.status, (await leaving.json()).checks.shutdown, leaving.headers.get('connection')], [
    503,
    'the server is about to stop',
    'keep-alive'
  ])
  t.equal((await fetch(`${base}/fast`)).status, 200, 'calls are taken until everybody has seen it')
  let refused = ''
  for (let tries = 0; tries < 1_000 && refused === ''; tries++) {
    await sleep(20)
    refused = await fetch(`${base}/fast`).then(() => '', ({ cause }) => cause.code)
  }
  t.equal(refused, 'ECONNREFUSED')
  t.equal(drained, false, 'a call is in flight')
  end()
  t.equal(await (await slow).text(), 'done')
  await drain
  t.equal(drained, true)
})

t.test('a call that does not end is not waited for longer than the grace', async (t) => {
  const app = await routes(t, database)
  const [begun, begin] = signal()
  app.get('/hung', async () => {
    begin()
    await new Promise(() => {})
  })
  const base = await app.listen({ host: '127.0.0.1', port: 0 })
  const cut = new AbortController()
  const hung = fetch(`${base}/hung`, { signal: cut.signal }).catch(() => 'gone')
  await begun
  await app.shutdown.drain(0, 50)
  t.equal(app.shutdown.stage, 'closing')
  cut.abort()
  await hung
})

t.test('a body or headers that never end do not keep the server from closing', async (t) => {
  const app = Fastify()
  t.teardown(() => app.server.closeAllConnections())
  drainable(app)
  app.post('/file', async () => 'read')
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  for (
    const sent of ['POST /file HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\npart', 'POST /file HTTP/1.1\r\nHo']
  ) {
    const socket = connect(Number(port), '127.0.0.1')
    t.teardown(() => socket.destroy())
    socket.on('error', () => {})
    socket.write(sent)
    await once(app.server, 'connection')
  }
  await sleep(50)
  await app.shutdown.drain(0, 100)
  const closed = await Promise.race([app.close().then(() => true), sleep(10_000, false, { ref: false })])
  t.ok(closed, 'so that the database and traces are closed, too')
})

t.test('a connection that is idle when the server closes takes one more call, and ends with its answer', async (t) => {
  const app = await routes(t, database)
  app.get('/fast', async () => 'done')
  const { hostname, port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const [used, unused] = [connect(Number(port), hostname), connect(Number(port), hostname)]
  t.teardown(() => {
    used.destroy()
    unused.destroy()
  })
  const ask = async (socket: Socket): Promise<string> => {
    socket.write(`GET /fast HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`)
    return String((await once(socket, 'data'))[0])
  }
  for (const socket of [used, unused]) t.match(await ask(socket), /connection: keep-alive/i)
  let drained = false
  // Its delay has to be long enough for the call below.
  const drain = app.shutdown.drain(2000, 60_000).then(() => {
    drained = true
  })
  while (app.shutdown.stage !== 'closing') await sleep(5)
  while (await fetch(`http://${hostname}:${port}/fast`).then(() => true, () => false)) await sleep(5)
  const ended = once(used, 'end')
  t.match(await ask(used), /connection: close\r\n[^]*done$/i)
  await ended
  t.equal(drained, false, 'the other one may be used yet')
  unused.end()
  await drain
})

/** A promise, and what fulfils it. */
function signal (): [Promise<void>, () => void] {
  let fulfil = (): void => {}
  const promise = new Promise<void>((resolve) => {
    fulfil = resolve
  })
  return [promise, fulfil]
}
