import t, { type Test } from 'tap'
import { spawn } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandFrom, warningAbout } from '../src/cli/arguments.ts'
import { clientFor } from '../src/cli/client.ts'
import { itemLines } from '../src/cli/listings.ts'
import { run as runCommand } from '../src/cli/run.ts'
import { startAndWatch } from '../src/cli/watch.ts'
import type { ItemBody } from '../src/admin/run-schemas.ts'
import { table, listText, progressLine, reportText, succeeded, type RunBody } from '../src/cli/tables.ts'
import { itemTable } from '../src/csv/tables.ts'
import { pglite } from './database.ts'
import { emptyRun } from './run-body.ts'
import { build, type World } from './world.ts'
import { joined } from '../../../test/joined.ts'

const url = 'https://shop.example/admin/accounts'
const common = { url, token: 'secret', json: false }

t.test('what a command line means', async (t) => {
  const env = { PAY_RECONCILE_TOKEN: 'secret' }
  for (
    const [argv, wanted] of [
      [['--url', url, '--mode', 'sync'], { ...common, task: { start: { mode: 'sync', dry_run: true } } }],
      [['--url', `${url}/`, '--mode', 'check', '--dry-run', '--json'], {
        ...common,
        json: true,
        task: { start: { mode: 'check', dry_run: true } }
      }],
      [['--url', url, '--mode', 'link', '--apply', '--shop', 's'], {
        ...common,
        task: { start: { mode: 'link', dry_run: false, shop_id: 's' } }
      }],
      [['--url', url, '--run', 'r'], { ...common, task: { run: 'r' } }],
      [['--url', url, '--list'], { ...common, task: { list: {} } }],
      [['--url', url, '--list', '--status', 'running', '--json'], {
        ...common,
        json: true,
        task: { list: { status: 'running' } }
      }],
      [['--url', url, '--run', 'r', '--show', 'different,suggested'], {
        ...common,
        show: ['different', 'suggested'],
        task: { run: 'r' }
      }],
      [['--url', url, '--mode', 'check', '--csv', 'f.csv'], {
        ...common,
        csv: 'f.csv',
        task: { start: { mode: 'check', dry_run: true } }
      }],
      [['--url', url, '--run', 'r', '--since', 'last'], { ...common, since: 'last', task: { run: 'r' } }],
      [['--url', url, '--audit', '--run', 'r', '--actor', 'u', '--csv', 'f'], {
        ...common,
        csv: 'f',
        task: { audit: { actor: 'u', run_id: 'r' } }
      }],
      [['--url', url, '--mode', 'link', '--accept', '7,8,7', '--apply'], {
        ...common,
        task: { start: { mode: 'link', dry_run: false, accept: ['7', '8'] } }
      }],
      [['--url', url, '--mode', 'unlink', '--accounts', 'a,b'], {
        ...common,
        task: { start: { mode: 'unlink', dry_run: true, accounts: ['a', 'b'] } }
      }],
      [['--url', url, '--mode', 'sync', '--failed-in', 'r'], {
        ...common,
        task: { start: { mode: 'sync', dry_run: true, failed_in: 'r' } }
      }],
      [['--url', url, '--unlinked', '--shop', 's', '--json'], { ...common, json: true, task: { unlinked: 's' } }],
      [['--help'], undefined]
    ] as const
  ) t.strictSame(commandFrom(argv, env), wanted, argv.join(' '))
  for (
    const [argv, message] of [
      [
        [],
        '--url must be the address of the admin routes, such as https://host/admin/accounts, without a user or password'
      ],
      [
        ['--url', 'shop'],
        '--url must be the address of the admin routes, such as https://host/admin/accounts, without a user or password'
      ],
      [
        ['--url', 'localhost:8080/admin/accounts'],
        '--url must be the address of the admin routes, such as https://host/admin/accounts, without a user or password'
      ],
      [
        ['--url', 'http://ann:secret@localhost:8080/admin/accounts'],
        '--url must be the address of the admin routes, such as https://host/admin/accounts, without a user or password'
      ],
      [['--url', url], '--mode must be link, sync, check, changes or unlink'],
      [['--url', url, '--mode', 'sync', '--apply', '--dry-run'], '--apply and --dry-run contradict each other'],
      [['--url', url, '--mode', 'sync', '--status', 'done'], '--status has no effect with --mode'],
      [['--url', url, '--list', '--run', 'r'], '--run has no effect with --list'],
      [['--url', url, '--list', '--mode', 'sync'], '--mode has no effect with --list'],
      [['--url', url, '--list', '--shop', 's'], '--shop has no effect with --list'],
      [['--url', url, '--list', '--apply'], '--apply has no effect with --list'],
      [['--url', url, '--list', '--dry-run'], '--dry-run has no effect with --list'],
      [['--url', url, '--run', 'r', '--mode', 'sync', '--apply'], '--mode has no effect with --run'],
      [['--url', url, '--run', 'r', '--shop', 's'], '--shop has no effect with --run'],
      [['--url', url, '--run', 'r', '--apply'], '--apply has no effect with --run'],
      [['--url', url, '--run', 'r', '--dry-run'], '--dry-run has no effect with --run'],
      [['--url', url, '--run', 'r', '--status', 'done'], '--status has no effect with --run'],
      [['--url', url, '--list', '--csv', 'f'], '--csv has no effect with --list'],
      [['--url', url, '--run', 'r', '--csv', 'f', '--json'], '--json and --csv contradict each other'],
      [
        ['--url', url, '--run', 'r', '--show', 'different,differs'],
        '--show must be one or more of ' +
        'unchanged,linked,unlinked,synced,suggested,ambiguous,unmatched,skipped,different,failed'
      ],
      [['--url', url, '--audit', '--mode', 'sync'], '--mode has no effect with --audit'],
      [['--url', url, '--mode', 'sync', '--actor', 'u'], '--actor has no effect with --mode'],
      [['--url', url, '--run', 'r', '--accept', '7'], '--accept has no effect with --run'],
      [['--url', url, '--mode', 'sync', '--stale', 'week'], '--stale must be a number of days'],
      [['--url', url, '--mode', 'sync', '--stale', ''], '--stale must be a number of days'],
      [
        ['--url', url, '--mode', 'link', '--accept', fileURLToPath(import.meta.url)],
        joined(
          /^--accept: line 1 of .* starts with "import .*", /,
          /but the first column must have the ids of items, as --csv wrote them$/
        )
      ],
      [['--url', url, '--unlinked'], '--unlinked needs --shop: each shop has its own key'],
      [['--url', url, '--unlinked', '--shop', 's', '--apply'], '--apply has no effect with --unlinked'],
      [['--token', 'secret'], /Unknown option '--token'/]
    ] as const
  ) t.throws(() => commandFrom(argv, env), { code: 'PAY_RECONCILE_USAGE', message }, argv.join(' '))
})

const run: RunBody = {
  ...emptyRun,
  total: 10,
  processed: 5,
  outcomes: { synced: 4, failed: 1 },
  differences: { differs: 2 },
  shops: { total: 2, finished: 1, stopped: [{ shop_id: 'shop-1', reason: 'PAY_RECONCILE_PROVIDER_KEY_REJECTED' }] },
  items_count: 1
}

t.test('progress and report', async (t) => {
  t.equal(progressLine(run, 10), '[#####-----]  50% 5/10 accounts, 1/2 shops, 1 failed')
  t.equal(
    progressLine({ ...run, total: 0, processed: 0, outcomes: {} }, 4),
    '[####] 100% 0/0 accounts, 1/2 shops, 0 failed'
  )
  t.equal(table(['a', 'long'], [['longer', 'b']]), 'a       long\n------  ----\nlonger  b')
  t.equal(
    reportText(run),
    [
      'sync (dry run, nothing was changed): done, 5 of 10 accounts',
      '',
      'outcome  accounts',
      '-------  --------',
      'failed   1',
      'synced   4',
      '',
      'differences  accounts',
      '-----------  --------',
      'differs      2',
      '',
      'stopped shop  reason',
      '------------  -----------------------------------',
      'shop-1        PAY_RECONCILE_PROVIDER_KEY_REJECTED',
      ''
    ].join('\n')
  )
  t.equal(listText([]), 'no runs\n')
  t.equal(
    listText([{ ...run, started_at: 'then' }, { ...run, id: 'r2', dry_run: false, shop_id: 'shop-1' }]),
    [
      'run  status  mode            shop    accounts  started  by',
      '---  ------  --------------  ------  --------  -------  ------',
      'r    done    sync (dry run)  all     5/10      then     user-1',
      'r2   done    sync            shop-1  5/10               user-1',
      ''
    ].join('\n')
  )
  const fine = { ...run, outcomes: { synced: 5 }, shops: { ...run.shops, stopped: [] } }
  for (
    const [value, wanted] of [
      [fine, true],
      [{ ...fine, status: 'cancelled' }, false],
      [{ ...fine, outcomes: { failed: 1 } }, false],
      [run, false]
    ] as const
  ) t.equal(succeeded(value), wanted)
})

t.test('an item is one line for each thing to say of it', async (t) => {
  const item: ItemBody = {
    id: '7',
    account_id: 'a1',
    account_name: 'Ada',
    shop_id: 's1',
    shop_name: 'Shop',
    outcome: 'linked',
    before: null,
    after: 'cus_1',
    reason: 'metadata',
    differences: [],
    fields: [],
    candidates: [],
    error_code: null,
    provider_request_id: null
  }
  const customer = {
    pay_customer_id: 'cus_2',
    match: 'email',
    name: null,
    email: 'a@example.org',
    metadata: { account_id: 'a2' },
    linked: true
  } as const
  for (
    const [change, lines] of [
      [{}, [['7', 'a1', 'Ada', 'Shop', 'linked', '(none) → cus_1  metadata']]],
      [{ outcome: 'unmatched', after: null, reason: null }, [['7', 'a1', 'Ada', 'Shop', 'unmatched', '']]],
      [{ outcome: 'different', before: 'cus_1', reason: null, differences: ['deleted', 'duplicate'] }, [[
        '7',
        'a1',
        'Ada',
        'Shop',
        'deleted, duplicate',
        'cus_1'
      ]]],
      [{
        outcome: 'ambiguous',
        candidates: [{ ...customer, match: 'metadata', metadata: {}, linked: false }, customer]
      }, [
        ['7', 'a1', 'Ada', 'Shop', 'ambiguous', 'cus_2 by metadata: a@example.org'],
        ['', '', '', '', '', 'cus_2 by email: a@example.org, {"account_id":"a2"} (another account has it)']
      ]]
    ] as const
  ) t.strictSame(itemLines({ ...item, ...change } as ItemBody, false), lines)
  t.strictSame(
    itemTable.lines({ ...item, fields: [{ field: 'metadata', stored: { a: 1 } }], candidates: [customer] }).map((
      line
    ) => line.slice(12)),
    [
      ['metadata', '{"a":1}', '', '', '', '', '', '', ''],
      ['', '', '', 'cus_2', 'email', '', 'a@example.org', 'true', '{"account_id":"a2"}']
    ]
  )
  t.strictSame(itemLines(item, true), [['7', 'a1', 'Ada', 'linked', '(none) → cus_1  metadata']])
  t.equal(itemTable.lines(item)[0]?.length, itemTable.head.length)
})

const json = { 'content-type': 'application/json' }
const good = { ...run, outcomes: { synced: 5 }, shops: { ...run.shops, stopped: [] } }
const started: RequestListener = (_request, response) => {
  response.writeHead(202, json).end(JSON.stringify(good))
}
const running: RequestListener = (_request, response) => {
  response.end(JSON.stringify({ ...good, status: 'running' }))
}
const done: RequestListener = (_request, response) => {
  response.end(JSON.stringify(good))
}
const broken: RequestListener = (request) => {
  request.socket.destroy()
}
const status = (code: number, headers = {}, body = '{}'): RequestListener => (_request, response) => {
  response.writeHead(code, headers).end(body)
}

/** A server that gives these answers, one after the other, the last one again and again. */
async function serverOf (t: Test, ...answers: RequestListener[]) {
  const methods: string[] = []
  const server = createServer((request, response) => {
    methods.push(request.method ?? '')
    const answer = answers.length > 1 ? answers.shift() : answers[0]
    answer?.(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  function close (): void {
    server.closeAllConnections()
    server.close()
  }
  t.teardown(close)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/accounts`, methods, close }
}

/** What the command says, with a time that passes by waiting only. */
function surroundings () {
  const said = { stdout: '', stderr: '' }
  const waits: number[] = []
  let now = 0
  return {
    said,
    waits,
    stdout: {
      write: (text: string) => {
        said.stdout += text
      }
    },
    stderr: {
      write: (text: string) => {
        said.stderr += text
      }
    },
    clock: {
      now: () => now,
      async sleep (ms: number) {
        now += ms
        waits.push(ms)
      }
    }
  }
}

const sync = { start: { mode: 'sync', dry_run: false } }

t.test('a run is watched through an outage of the server', async (t) => {
  const inAMinute = () => new Date(Date.now() + 60_000).toUTCString()
  const { url, methods } = await serverOf(
    t,
    started,
    running,
    broken,
    status(503),
    status(429, { 'retry-after': '7' }),
    running,
    status(502, { 'retry-after': 'soon' }),
    (request, response) => status(503, { 'retry-after': inAMinute() })(request, response),
    status(503, { 'retry-after': '0' }),
    done
  )
  const at = surroundings()
  t.equal(await startAndWatch({ ...common, url }, sync, at), 0)
  t.strictSame(methods, ['POST', ...Array(10).fill('GET')], 'it is started once, and its items are read at the end')
  t.strictSame(at.waits, [500, 250, 500, 7000, 500, 250, 30_000, 1000], 'Retry-After is honoured up to half a minute')
  const [first, , note, , second, ...more] = at.said.stderr.split('\n')
  t.equal(first, 'run r')
  t.match(
    note,
    joined(
      /^the server does not respond; retrying /,
      /\(GET http:\S+\/accounts\/reconcile\/r\?outcome=failed&limit=1 got no response: /,
      /other side closed \(UND_ERR_SOCKET\)\)$/
    )
  )
  t.match(second, /^the server responds with 502; retrying \(GET /)
  t.equal(more.length, 2, 'each outage is told once')
  t.match(at.said.stdout, /^sync \(dry run, nothing was changed\): done/)
})

t.test('a server that does not come back is given up after two minutes', async (t) => {
  const server = await serverOf(t, started, (request, response) => {
    running(request, response)
    server.close()
  })
  const at = surroundings()
  await t.rejects(startAndWatch({ ...common, url: server.url }, sync, at), {
    code: 'PAY_RECONCILE_NOT_WATCHED',
    message: joined(
      /^GET http:\S+\/accounts\/reconcile\/r\S+ got no response: /,
      /connect ECONNREFUSED 127\.0\.0\.1:\d+\nNo successful response for two minutes\. /,
      /The run continues in the server; watch it with --run r$/
    )
  })
  t.equal(at.waits.slice(1).reduce((sum, ms) => sum + ms, 0), 120_000)

  const watching = surroundings()
  await t.rejects(startAndWatch({ ...common, url: server.url }, { run: 'r' }, watching), {
    message: /ECONNREFUSED.*\n.*--run r$/
  })
  t.equal(watching.said.stderr.match(/the server does not respond/g)?.length, 1)

  const busy = await serverOf(t, status(503, {}, '<html>\n  busy'))
  await t.rejects(startAndWatch({ ...common, url: busy.url }, { run: 'r' }, surroundings()), {
    message: /got 503: <html> busy\nNo successful .* --run r$/
  })
})

t.test('a list whose length is not known is not taken for a whole one', async (t) => {
  const { url } = await serverOf(t, status(200, json, '[]'))
  t.match(await inProcess([`--url=${url}`, '--audit', '--json']), {
    code: 2,
    stderr: `GET ${url}/audit has no Content-Range; does a proxy remove it?\n`
  })
})

t.test('an answer that does not come in time is no answer', async (t) => {
  const { url } = await serverOf(t, () => {})
  await t.rejects(clientFor({ ...common, url }, 50).get('r'), {
    code: 'PAY_RECONCILE_SERVER_UNREACHABLE',
    message: /^GET \S+ got no response: The operation was aborted due to timeout$/
  })
})

t.test('a refusal is not asked for again, and says how to go on with a run that there is', async (t) => {
  const unauthorized = status(401, json, '{"code":"HOST_UNAUTHORIZED","message":"Log in first"}')
  for (
    const [answers, message] of [
      [
        [started, running, unauthorized],
        joined(
          /got 401: HOST_UNAUTHORIZED Log in first\n/,
          /The server no longer accepts the token\. The run continues in the server; /,
          /watch it with --run r and a new token in PAY_RECONCILE_TOKEN$/
        )
      ],
      [[started, status(403)], /got 403: \nThe run continues in the server; watch it with --run r$/],
      [
        [started, status(403, json, JSON.stringify({ code: 'X', message: 'm'.repeat(1000) }))],
        /got 403: X m{199}…\nThe run continues in the server; watch it with --run r$/
      ],
      [
        [started, status(200, {}, 'p'.repeat(1000))],
        /got 200: not JSON: p{199}…\nThe run continues in the server; watch it with --run r$/
      ],
      [
        [started, status(200, {}, '<html>')],
        /got 200: not JSON: <html>\nThe run continues in the server; watch it with --run r$/
      ]
    ] as const
  ) {
    const { url, methods } = await serverOf(t, ...answers)
    await t.rejects(startAndWatch({ ...common, url }, sync, surroundings()), {
      code: 'PAY_RECONCILE_NOT_WATCHED',
      message
    })
    t.equal(methods.length, answers.length)
  }
  const { url } = await serverOf(t, unauthorized)
  await t.rejects(startAndWatch({ ...common, url }, { run: 'r' }, surroundings()), {
    code: 'PAY_RECONCILE_REFUSED',
    message: /got 401: HOST_UNAUTHORIZED Log in first$/
  })
})

t.test('a start is tried once, and what became of it is not guessed', async (t) => {
  const hint = 'If the server started a run anyway, --list shows it'
  for (
    const [answer, message] of [
      [broken, `got no response: other side closed (UND_ERR_SOCKET)\n${hint}`],
      [status(504, {}, 'late'), `got 504: late\n${hint}`],
      [status(202, {}, ''), `got 202: not JSON: \n${hint}`],
      [status(429, {}, 'slower'), 'got 429: slower']
    ] as const
  ) {
    const { url, methods } = await serverOf(t, answer)
    await t.rejects(startAndWatch({ ...common, url }, sync, surroundings()), {
      message: `POST ${url}/reconcile ${message}`
    })
    t.strictSame(methods, ['POST'])
  }
  const { url, close } = await serverOf(t)
  close()
  t.match(await start(t, [`--url=${url}`, '--mode=sync']).ended, {
    code: 2,
    stdout: '',
    stderr: new RegExp(`^POST ${url}/reconcile got no response: connect ECONNREFUSED 127\\.0\\.0\\.1:\\d+\n${hint}\n$`)
  })
  t.match(await inProcess([`--url=${url}`, '--list']), {
    code: 2,
    stdout: '',
    stderr: /^GET \S+ got no response: connect ECONNREFUSED \S+\n$/
  })
})

/** Moves the cursor, sets the title, makes a line of its own, and turns text around. */
const hostile = '\u001b[2J\u001b]0;title\u0007\u009b31m\rok\n\u2028\u202eevil\u{e0041}'
const harmless = '\\u001b[2J\\u001b]0;title\\u0007\\u009b31m\\u000dok\\u000a\\u2028\\u202eevil\\udb40\\udc41'
const hostileIn = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, hostile]))
const forged = {
  ...run,
  ...hostileIn('id', 'mode', 'actor', 'started_at', 'shop_id'),
  shops: { total: hostile, finished: 1, stopped: [{ shop_id: hostile, reason: hostile }] },
  outcomes: { [hostile]: 1, failed: hostile },
  items: [{
    ...hostileIn(
      'id',
      'account_id',
      'account_name',
      'shop_id',
      'shop_name',
      'outcome',
      'before',
      'reason',
      'error_code',
      'provider_request_id'
    ),
    after: null,
    differences: [hostile],
    fields: [{ field: hostile, stored: { [hostile]: hostile }, live: hostile }],
    candidates: [{
      pay_customer_id: hostile,
      match: hostile,
      name: hostile,
      email: hostile,
      metadata: { [hostile]: hostile },
      linked: true
    }]
  }],
  items_count: 1
}

t.test('what a server says is not obeyed by the terminal', async (t) => {
  const answer: RequestListener = (_request, response) => {
    response.end(JSON.stringify(forged))
  }
  for (const isJson of [false, true]) {
    const at = surroundings()
    await startAndWatch({ ...common, json: isJson, url: (await serverOf(t, answer)).url }, sync, at)
    t.notMatch(at.said.stdout + at.said.stderr, /[^\P{C}\n]|[\p{Zl}\p{Zp}]/u)
    t.equal(
      at.said.stdout.includes(isJson ? harmless.replace('\\u000d', '\\r').replace('\\u000a', '\\n') : harmless),
      true
    )
    const { items_count: _, ...printed } = forged
    if (isJson) t.strictSame(JSON.parse(at.said.stdout), printed, 'JSON stays the same value')
    t.equal(at.said.stderr.split('\n')[0], `run ${harmless}`)
  }
  for (
    const [answers, message] of [
      [
        [status(403, json, JSON.stringify({ code: hostile, message: 'x'.repeat(100_000) }))],
        `got 403: ${harmless} ${'x'.repeat(199)}…`
      ],
      [[status(403, {}, hostile)], `got 403: ${harmless.replace('\\u000dok\\u000a\\u2028', ' ok ')}`],
      [[answer, status(403)], `got 403: \nThe run continues in the server; watch it with --run ${harmless}`]
    ] as const
  ) {
    const { url } = await serverOf(t, ...answers)
    const text: string = await startAndWatch({ ...common, url }, sync, surroundings()).then(
      String,
      ({ message }) => message
    )
    t.equal(text.slice(-message.length), message)
  }
  const { url } = await serverOf(t, (_request, response) => {
    response.end(JSON.stringify([forged]))
  })
  const listed = await inProcess([`--url=${url}`, '--list'])
  t.match(listed, { code: 0, stderr: '', stdout: harmless })
  t.notMatch(listed.stdout, /[^\P{C}\n]/u)
})

t.test('a token over plain http to another machine is warned of', async (t) => {
  const warning = 'others on the network can read the token over plain http; use https'
  for (
    const [address, wanted] of [
      ['https://shop.example', undefined],
      ['http://localhost:8080', undefined],
      ['http://shop.localhost', undefined],
      ['http://127.1.2.3', undefined],
      ['http://[::1]:1', undefined],
      ['http://shop.example', warning],
      ['http://localhost.example', warning],
      ['http://10.0.0.1', warning],
      ['http://[::ffff:127.0.0.1]', warning]
    ] as const
  ) t.equal(warningAbout({ url: address }), wanted, address)
  t.match(await inProcess(['--url=http://0.0.0.0:9', '--list']), {
    code: 2,
    stdout: '',
    stderr: new RegExp(`^warning: ${warning}\nGET http://0\\.0\\.0\\.0:9/`)
  })
})

t.test('the command against a server', async (t) => {
  const knex = await pglite.connect(t)
  const world = await build(t, knex, { perSecond: 200, accountsAtOnce: 2 })
  const address = await world.app.listen({ port: 0, host: '127.0.0.1' })
  const url = `--url=${address}/admin/accounts`
  const command = (...args: string[]) => inProcess([url, ...args])
  world.standIn.addAccount('sk_test_cli', { customers: [{ id: 'cus_1' }] })
  const shopId = await world.addShop({ key: 'sk_test_cli' })
  const accountId = await world.addAccount(shopId, { pay_customer_id: 'cus_1' })

  const dry = await command('--mode=sync', '--dry-run')
  t.match(dry, {
    code: 0,
    stdout: /^sync \(dry run, nothing was changed\): done, 1 of 1 accounts\n/,
    stderr: /100% 1\/1 accounts, 1\/1 shops, 0 failed\n$/
  })
  t.strictSame(await world.detailsOf(accountId), { pay_customer_id: 'cus_1' })

  const applied = await command('--mode=sync', '--apply', '--json', `--shop=${shopId}`)
  t.equal(applied.code, 0)
  t.match(JSON.parse(applied.stdout), {
    mode: 'sync',
    dry_run: false,
    shop_id: shopId,
    status: 'done',
    outcomes: { synced: 1 }
  })
  t.match(await world.detailsOf(accountId), { pay_customer: { id: 'cus_1' } })

  await world.addAccount(shopId, { pay_customer_id: 'cus_nowhere' })
  const failed = await command('--mode=sync')
  t.equal(failed.code, 1, 'it exits with 1 when items failed')
  t.match(failed.stdout, /^\d+ +\S+ +Ada +Shop A +failed +PAY_RECONCILE_PROVIDER_CUSTOMER_NOT_FOUND {2}req_/m)
  await listing(t, world, command)

  const watched = await command('--run', /^run (\S+)/.exec(failed.stderr)?.[1] ?? '')
  t.equal(watched.stdout, failed.stdout, 'a run can be watched again')
  const nowhere = await command('--run', '00000000-0000-4000-8000-000000000000')
  t.match(
    nowhere,
    { code: 2, stderr: /got 404: PAY_RECONCILE_NOT_FOUND [^\n]+\n$/ },
    'of no run it is said that it goes on'
  )

  t.match(await command('--audit', `--account=${accountId}`), {
    code: 0,
    stdout: new RegExp(`^when .*\n.*\n\\S+Z +user-1 +sync +${accountId} +cus_1\n$`)
  })
  t.match(await command('--audit', '--actor=nobody'), { code: 0, stdout: 'nothing found\n' })
  const file = `${t.testdir()}/audit.csv`
  t.match(await command('--audit', `--account=${accountId}`, `--csv=${file}`), {
    code: 0,
    stdout: '',
    stderr: '1 records written\n'
  })
  t.match(
    readFileSync(file, 'utf8'),
    new RegExp(`^"id",.*\r\n"\\S{36}","\\S+Z","user-1","sync","${accountId}",.*\r\n$`)
  )
  t.match(JSON.parse((await command('--audit', `--account=${accountId}`, '--json')).stdout), [{
    action: 'sync',
    account_id: accountId
  }])

  await cancelling(t, world, url, shopId)

  const refused = await inProcess([url, '--mode=sync'], { PAY_RECONCILE_TOKEN: 'wrong' })
  t.match(refused, { code: 2, stdout: '', stderr: /got 403: HOST_FORBIDDEN For superusers only/ })
  t.match(await inProcess([url, '--mode=sync'], {}), {
    code: 2,
    stdout: '',
    stderr: /got 401: \S+ Log in first; PAY_RECONCILE_TOKEN is not set\n$/
  })
  t.match(await command('--mode=all'), {
    code: 2,
    stderr: '--mode must be link, sync, check, changes or unlink; --help says more\n'
  })
  t.match(await start(t, ['--help']).ended, { code: 0, stdout: /^Usage: pay-reconcile/ })
})

t.test('a file of accepted items is read to its first and last line', async (t) => {
  const accepted = (text: string) => {
    const command = commandFrom([
      '--url',
      url,
      '--mode',
      'link',
      '--accept',
      join(t.testdir({ 'items.csv': text }), 'items.csv')
    ], {})
    return (command?.task as { start: { accept: string[] } }).start.accept
  }
  for (
    const [text, ids] of [
      ['"item","account_id"\r\n"7","a"\r\n"8","b"\r\n', ['7', '8']],
      ['\ufeffitem;account_id\n7;a', ['7']],
      ['7\n8\n7\n', ['7', '8']],
      ['"7"\t"a"', ['7']]
    ] as const
  ) t.strictSame(accepted(text), ids, JSON.stringify(text))
  for (
    const [text, message] of [
      ['"item"\n"1,234"', /^--accept: line 2 of .* starts with "\\"1,234\\"", but/],
      ['account_id\n7', /^--accept: line 1 of .* starts with "account_id", but/],
      ['item\n7\n7a', /^--accept: line 3 of /],
      ['item\n1.5E3', /^--accept: line 2 of /],
      ['item\n', /^--accept: .* has no items$/],
      ['', /^--accept: .* has no items$/]
    ] as const
  ) t.throws(() => accepted(text), { code: 'PAY_RECONCILE_USAGE', message }, JSON.stringify(text))
})

/** What a run found, on the screen and in files. */
async function listing (t: Test, world: World, command: (...args: string[]) => Promise<Ended>): Promise<void> {
  const key = 'sk_test_listing'
  const shopId = await world.addShop({ key })
  world.standIn.addAccount(key, {
    customers: [
      { id: 'cus_d', name: '=HYPERLINK("http://evil.example")', email: 'new@example.org' },
      { id: 'cus_s', email: 'ada@example.org' }
    ]
  })
  await world.addAccount(shopId, {
    pay_customer_id: 'cus_d',
    pay_customer: {
      ...world.standIn.account(key).customers.get('cus_d'),
      name: 'Old "name",\nwith a line',
      email: 'old@example.org'
    }
  })
  for (let n = 0; n < 3; n++) {
    await world.addAccount(shopId, { email: n === 0 ? 'ada@example.org' : `${n}@example.org` }, { name: '=cmd' })
  }

  const check = await command('--mode=check', `--shop=${shopId}`, '--show=different')
  t.match(check, {
    code: 0,
    stdout: joined(
      /^\d+ +\S+ +Ada +differs +email: old@example\.org → new@example\.org\n/,
      / +name: Old "name",\\u000awith a line → =HYPERLINK/m
    )
  })
  t.equal(check.stdout.match(/^\d+ +\S+ +=cmd +missing$/mg)?.length, 3)

  const directory = t.testdir()
  const file = `${directory}/items.csv`
  writeFileSync(file, 'of an earlier day', { mode: 0o644 })
  const link = await command('--mode=link', `--shop=${shopId}`, `--csv=${file}`)
  t.match(link, { code: 0, stderr: /^3 items written$/m })
  t.notMatch(link.stdout, 'ada@example.org')
  const text = readFileSync(file, 'utf8')
  const [head, ...lines] = text.split('\r\n')
  t.equal(head, itemTable.head.map((name) => `"${name}"`).join())
  t.equal(lines.filter((line) => line.includes('"\'=cmd"')).length, 3, 'no cell is a formula')
  t.match(lines.find((line) => line.includes('"suggested"')), /,"cus_s","email","","ada@example.org","false",""$/)
  t.equal(statSync(file).mode & 0o777, 0o600)
  writeFileSync(file, text.split('\r\n').filter((line) => !line.includes('"unmatched"')).join('\r\n'))
  const accepted = await command('--mode=link', `--shop=${shopId}`, `--accept=${file}`, '--show=linked')
  t.match(accepted, {
    code: 0,
    stdout: /: done, 1 of 1 accounts\n(?:.*\n)*\d+ .* linked +\(none\) → cus_s {2}accepted$/m
  }, 'a reviewed file is accepted')
  const different = await command(
    '--run',
    /^run (\S+)/.exec(check.stderr)?.[1] ?? '',
    `--csv=${file}`,
    '--show=different'
  )
  t.match(different, { code: 0, stderr: /^4 items written$/m })
  const rows = readFileSync(file, 'utf8').split('\r\n')
  t.equal(rows.length, 1 + 2 + 3 + 1, 'a line for each difference')
  t.match(
    rows.find((row) => row.includes('"name"')),
    /,"name","Old ""name"",\\u000awith a line","'=HYPERLINK\(""http:\/\/evil\.example""\)",""/
  )

  const { items, ...counters } = JSON.parse(
    (await command('--run', /^run (\S+)/.exec(check.stderr)?.[1] ?? '', '--json')).stdout
  )
  t.match(counters, { mode: 'check', status: 'done', outcomes: { different: 4 } })
  t.strictSame(items.map(({ outcome }: ItemBody) => outcome), Array(4).fill('different'), 'JSON has all items')
  const first = await command('--mode=sync', `--shop=${shopId}`, '--show=synced', '--since=last')
  t.match(first, {
    code: 0,
    stderr: /^there is no earlier run: everything is new$/m,
    stdout: /^\d+ +\S+ +Ada +synced/m
  })
  const newcomer = await world.addAccount(shopId, {}, { name: 'Newcomer' })
  const next = await command('--mode=check', `--shop=${shopId}`, '--show=different', '--since=last')
  t.match(next.stderr, `since run ${/^run (\S+)/.exec(check.stderr)?.[1]}`)
  t.strictSame(
    next.stdout.match(/^\d+ .*/mg)?.map((line) => line.replace(/^\d+ +\S+ +/, '')),
    ['Newcomer  missing'],
    'only what is new'
  )

  t.equal((await command('--mode=check', `--shop=${shopId}`, `--accounts=${newcomer}`)).code, 0)
  t.notMatch(
    (await command('--mode=check', `--shop=${shopId}`, '--show=different', '--since=last')).stdout,
    /^\d+ /m,
    'a run over one account is not the last one over all'
  )
  t.match(
    (await command('--mode=check', `--shop=${shopId}`, `--accounts=${newcomer}`, '--show=different', '--since=last'))
      .stderr,
    /^since run /m
  )

  await world.addAccount(shopId, { email: 'ada@example.org' }, { name: 'Twin' })
  const unlinked = await command('--unlinked', `--shop=${shopId}`)
  t.match(unlinked, {
    code: 0,
    stderr: '',
    stdout: /^cus_s +ada@example\.org +\S+ by email: (?:=cmd|Twin)\n {2,}\S+ by email: (?:=cmd|Twin)\n$/m
  })
  t.match(JSON.parse((await command('--unlinked', `--shop=${shopId}`, '--json')).stdout), [{
    pay_customer_id: 'cus_s',
    accounts: [{ match: 'email' }, {}]
  }])
  t.match(await command('--unlinked', `--shop=${shopId}`, `--csv=${file}`), { code: 0, stderr: '1 records written\n' })
  t.match(readFileSync(file, 'utf8'), /^"pay_customer_id",.*\r\n"cus_s","","ada@example\.org",.*\r\n"cus_s",/)

  t.match(await command('--mode=check', `--csv=${directory}/none/items.csv`), {
    code: 2,
    stdout: '',
    stderr: /^ENOENT/
  }, 'a wrong path starts nothing')
}

async function cancelling (t: Test, world: World, url: string, shopId: string): Promise<void> {
  const command = (...args: string[]) => inProcess([url, ...args])
  for (let n = 0; n < 200; n++) await world.addAccount(shopId, { pay_customer_id: 'cus_1' })
  const end = world.standIn.fault({ kind: 'slow', delay: 8000 })
  const started = start(t, [url, '--mode=sync'])
  await started.line
  const listed = await command('--list', '--status=running', '--json')
  t.equal(listed.code, 0)
  const [running, ...more] = JSON.parse(listed.stdout)
  t.match([running, more], [{ status: 'running', mode: 'sync' }, []])
  t.match(await command('--mode=check', `--shop=${shopId}`), {
    code: 2,
    stderr: `got 409: PAY_RECONCILE_RUN_ACTIVE The reconciliation run ${running.id} is still processing the shop ` +
      `${shopId} (watch it with --run ${running.id})`
  }, 'a second run is told which one is in its way')
  t.match((await command('--list')).stdout, new RegExp(`^${running.id} +running +sync \\(dry run\\) +all +`, 'm'))
  started.child.kill('SIGINT')
  const cancelled = await started.ended
  end()
  t.match(
    cancelled,
    { code: 1, stdout: /^sync \(dry run, nothing was changed\): cancelled, / },
    'Ctrl-C cancels the run'
  )
}

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

async function inProcess (
  args: readonly string[],
  env: { readonly PAY_RECONCILE_TOKEN?: string } = { PAY_RECONCILE_TOKEN: 'superuser' }
): Promise<Ended> {
  const { said, stdout, stderr } = surroundings()
  return { code: await runCommand(args, env, { stdout, stderr }), ...said }
}

interface Started {
  readonly child: ReturnType<typeof spawn>
  /** The first line about progress. */
  readonly line: Promise<unknown>
  readonly ended: Promise<Ended>
}

function start (t: Test, args: readonly string[], env = { PAY_RECONCILE_TOKEN: 'superuser' }): Started {
  const script = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
  const child = spawn(process.execPath, [...process.execArgv, script, ...args], { env: { ...process.env, ...env } })
  t.teardown(() => child.kill('SIGKILL'))
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  const line = new Promise((resolve) =>
    child.stderr.on('data', (chunk) => {
      stderr += chunk
      if (stderr.includes('accounts')) resolve(stderr)
    })
  )
  return {
    child,
    line,
    ended: new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })))
  }
}
