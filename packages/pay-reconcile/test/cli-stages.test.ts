import t from 'tap'
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { commandFrom } from '../src/cli/arguments.ts'
import { auditListing } from '../src/cli/audit.ts'
import { clientFor, PAY_RECONCILE_REFUSED, PAY_RECONCILE_SERVER_UNREACHABLE } from '../src/cli/client.ts'
import { itemHead } from '../src/cli/items.ts'
import { orphanListing, type OrphansBody } from '../src/cli/orphans.ts'
import { pagesBySkip, printJson, recordsTable, type Listing } from '../src/cli/records.ts'
import { isTransient, withRetries } from '../src/cli/retry.ts'
import { run } from '../src/cli/run.ts'
import { table } from '../src/cli/table.ts'
import { progressLine, reportText, type RunBody } from '../src/cli/tables.ts'
import { startAndWatch } from '../src/cli/watch.ts'
import { cell } from '../src/csv/items.ts'
import { printable, printableJson } from '../src/printable.ts'
import { emptyRun } from './run-body.ts'

const url = 'https://shop.example/admin/accounts'

t.test('orphans are shown with each account that they may belong to', async t => {
  const { lines, csv, head } = orphanListing(async function * () {})
  const ada = { account_id: 'a1', account_name: 'Ada', match: 'metadata', pay_customer_id: null } as const
  const bob = { account_id: 'a2', account_name: 'Bob', match: 'email', pay_customer_id: 'cus_9' } as const
  for (const [fields, shown, file] of [
    [{ name: null, email: null, accounts: [] }, [['cus_1', '', '', '']], [['cus_1', '', '', '', '', '', '']]],
    [{ name: 'N', email: 'e', accounts: [ada] }, [['cus_1', 'N', 'e', 'a1 by metadata: Ada']], [['cus_1', 'N', 'e', 'a1', 'Ada', 'metadata', '']]],
    [{ name: 'N', email: 'e', accounts: [ada, bob] }, [['cus_1', 'N', 'e', 'a1 by metadata: Ada'], ['', '', '', 'a2 by email: Bob (has cus_9)']],
      [['cus_1', 'N', 'e', 'a1', 'Ada', 'metadata', ''], ['cus_1', 'N', 'e', 'a2', 'Bob', 'email', 'cus_9']]]
  ] as const) {
    const orphan = { pay_customer_id: 'cus_1', ...fields } as unknown as OrphansBody['orphans'][number]
    t.strictSame([lines(orphan), csv.lines(orphan)], [shown, file])
  }
  t.strictSame([head, csv.head], [['customer', 'name', 'email', 'may belong to'], ['pay_customer_id', 'name', 'email', 'account_id', 'account_name', 'match', 'account_pay_customer_id']])
})

t.test('a change shows the customer before and after', async t => {
  const { lines, head } = auditListing(async function * () {})
  t.strictSame(head, ['when', 'by', 'what', 'account', 'customer'])
  for (const [before, after, shown] of [['cus_1', 'cus_1', 'cus_1'], [null, 'cus_1', '(none) → cus_1'], ['cus_1', null, 'cus_1 → (none)'], [null, null, '']] as const) {
    t.strictSame(lines({ at: 'then', actor: 'ann', action: 'link', account_id: 'a1', before: { pay_customer_id: before }, after: { pay_customer_id: after } } as never), [['then', 'ann', 'link', 'a1', shown]])
  }
})

/** A listing of so many numbers, and which pages were read. */
function numbers (count: number, isKnown: boolean) {
  const pages: number[] = []
  const listing: Listing<number> = {
    async * pages (size) {
      for (let first = 0; first < Math.max(count, 1); first += size) {
        pages.push(first)
        yield { records: Array.from({ length: Math.min(size, count - first) }, (_, n) => first + n), ...(isKnown && { count }) }
      }
    },
    head: ['n'],
    lines: n => [[String(n)]],
    csv: { head: ['n'], lines: n => [[String(n)]] }
  }
  return { listing, pages }
}

t.test('a table has a hundred records, and says what it leaves out', async t => {
  const output = { write: () => {} }
  const more = '\n\nthere may be more; --csv FILE or --json has all'
  for (const [count, isKnown, lines, end] of [
    [0, true, 0, ''], [99, true, 99, ''], [100, true, 100, ''], [101, true, 100, '\n\nand 1 more; --csv FILE or --json has all'], [250, true, 100, '\n\nand 150 more; --csv FILE or --json has all'],
    [0, false, 0, ''], [99, false, 99, ''], [100, false, 100, more], [250, false, 100, more]
  ] as const) {
    const { listing, pages } = numbers(count, isKnown)
    t.equal(await recordsTable(listing, output), lines === 0 ? '' : `${['n', '--', ...Array.from({ length: lines }, (_, n) => n)].join('\n')}${end}`, `${count} records`)
    t.strictSame(pages, [0], 'one page is read')
  }
  const wide = { ...numbers(1, true).listing, lines: () => [['x'.repeat(50)]] }
  t.match(await recordsTable(wide, { ...output, isTTY: true, columns: 20 }), /^x{19}…$/m, 'as wide as the terminal')
  t.match(await recordsTable(wide, { ...output, isTTY: false, columns: 20 }), /^x{50}$/m, 'a file is as wide as needed')
})

t.test('pages are read until there is no more', async t => {
  for (const [count, length, reads] of [
    [0, 2, [['0', '2']]], [2, 2, [['0', '2']]], [3, 2, [['0', '2'], ['2', '2']]], [3, 1, [['0', '2'], ['1', '2'], ['2', '2']]], [3, 0, [['0', '2']]]
  ] as const) {
    const asked: unknown[] = []
    const records: number[] = []
    for await (const page of pagesBySkip(2, async ({ skip, limit }) => {
      asked.push([skip, limit])
      return { records: Array.from({ length: Math.min(length, count - Number(skip)) }, (_, n) => Number(skip) + n), count }
    })) records.push(...page.records)
    t.strictSame([asked, records], [reads, length === 0 ? [] : Array.from({ length: count }, (_, n) => n)], `${count} in pages of ${length}`)
  }
})

t.test('JSON has all records', async t => {
  for (const count of [0, 1, 2, 1001]) {
    let text = ''
    const { listing, pages } = numbers(count, true)
    await printJson(listing, { write: more => { text += more } })
    t.strictSame(JSON.parse(text), Array.from({ length: count }, (_, n) => n))
    t.equal(pages.length, Math.ceil(count / 1000) || 1)
    if (count < 3) t.equal(text, ['[]', '[\n0\n]', '[\n0,\n1\n]'][count])
  }
})

t.test('a server\'s strings are cut and escaped', async t => {
  t.equal(printable('x'.repeat(500)), 'x'.repeat(500))
  t.equal(printable('x'.repeat(501)), `${'x'.repeat(499)}…`)
  t.equal(printable('\u001b\u2028\u00e9'), '\\u001b\\u2028\u00e9')
  t.equal(printableJson({ a: '\u0085', b: [1] }), '{\n  "a": "\\u0085",\n  "b": [\n    1\n  ]\n}')
  for (const [value, shown] of [[undefined, ''], ['a', 'a'], [null, 'null'], [{ a: 1 }, '{"a":1}']] as const) t.equal(cell(value), shown)
})

t.test('a table cuts its widest column first, and the first of those that are as wide', async t => {
  const cells = ['a'.repeat(10), 'b'.repeat(10), 'c']
  for (const [width, line] of [
    [25, `${cells[0]}  ${cells[1]}  c`], [24, `aaaaaaaa…  ${cells[1]}  c`], [23, 'aaaaaaaa…  bbbbbbbb…  c'], [22, 'aaaaaaa…  bbbbbbbb…  c'], [10, 'aaaaaaa…  bbbbbbb…  c']
  ] as const) t.equal(table(['', '', ''], [cells], width).split('\n')[2], line, `${width} columns`)
  t.equal(table(['a', 'b'], [['x', 'y'.repeat(20)], ['x'.repeat(12), '']], 30).split('\n')[2], `x          ${'y'.repeat(18)}…`, 'the last one is cut when it is twice as wide')
  t.equal(table(['a'], []), '')
  t.strictSame([itemHead(true), itemHead(false)], [['item', 'account', 'name', 'found', 'details'], ['item', 'account', 'name', 'shop', 'found', 'details']])
})

const body: RunBody = { ...emptyRun, total: 3, processed: 1 }

t.test('progress has thirty columns, and never more than all', async t => {
  t.equal(progressLine(body), `[${'#'.repeat(10)}${'-'.repeat(20)}]  33% 1/3 accounts, 0/1 shops, 0 failed`)
  t.equal(progressLine({ ...body, processed: 4 }), `[${'#'.repeat(30)}] 100% 4/3 accounts, 0/1 shops, 0 failed`)
  t.equal(reportText({ ...body, dry_run: false }, 'items'), 'sync: done, 1 of 3 accounts\n\nitems\n')
})

t.test('a time before which snapshots are stale', async t => {
  for (const [days, ms] of [['0', 0], ['7', 604_800_000], ['0.5', 43_200_000], ['36499.9', 36_499.9 * 86_400_000]] as const) {
    const before = Date.now() - ms
    const command = commandFrom(['--url', url, '--mode', 'sync', '--stale', days], {})
    const { start } = command?.task as { start: { synced_before: string } }
    t.ok(before - 1 <= Date.parse(start.synced_before) && Date.parse(start.synced_before) <= Date.now() - ms, days)
  }
  for (const days of ['36500', '1e3', '1.']) t.throws(() => commandFrom(['--url', url, '--mode', 'sync', '--stale', days], {}), { code: 'PAY_RECONCILE_USAGE', message: '--stale must be a number of days' }, days)
})

t.test('addresses', async t => {
  for (const [given, wanted] of [[url, url], [`${url}//`, url], ['https://shop.example/', 'https://shop.example'], ['HTTPS://shop.example/a', 'HTTPS://shop.example/a']] as const) {
    t.equal(commandFrom(['--url', given, '--list'], {})?.url, wanted)
  }
  for (const given of ['ftp://shop.example', 'https://:secret@shop.example', 'https://ann@shop.example']) t.throws(() => commandFrom(['--url', given, '--list'], {}), { code: 'PAY_RECONCILE_USAGE', message: /^--url must be/ }, given)
})

t.test('which failures of the server may pass', async t => {
  const refused = (status: number) => Object.assign(new PAY_RECONCILE_REFUSED('no'), { status })
  for (const [status, wanted] of [[200, false], [400, false], [428, false], [429, true], [430, false], [499, false], [500, true], [503, true]] as const) t.equal(isTransient(refused(status)), wanted, String(status))
  t.equal(isTransient(new PAY_RECONCILE_REFUSED('without a status')), false)
  t.equal(isTransient(new PAY_RECONCILE_SERVER_UNREACHABLE('no', { cause: null })), true)
  t.equal(isTransient(Object.assign(new Error('of something else'), { status: 503 })), false)

  const waits: number[] = []
  let now = 0
  const clock = { now: () => now, sleep: async (ms: number) => { waits.push(ms); now += ms } }
  await t.rejects(withRetries(async () => { throw refused(503) }, () => {}, clock), { code: 'PAY_RECONCILE_REFUSED' })
  t.strictSame([waits.slice(0, 6), Math.max(...waits), now], [[500, 1000, 2000, 4000, 5000, 5000], 5000, 120_000], 'waits grow up to five seconds')
})

t.test('why there is no response', async t => {
  const { fetch } = globalThis
  t.teardown(() => { globalThis.fetch = fetch })
  const refused = (address: string) => Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED' })
  for (const [cause, reason] of [
    [refused('127.0.0.1:1'), 'connect ECONNREFUSED 127.0.0.1:1'],
    [Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }), 'other side closed (UND_ERR_SOCKET)'],
    [new AggregateError([refused('::1:1'), refused('127.0.0.1:1')]), 'connect ECONNREFUSED ::1:1, connect ECONNREFUSED 127.0.0.1:1'],
    [Object.assign(new AggregateError([]), { code: 'ETIMEDOUT' }), 'ETIMEDOUT'],
    [new RangeError(''), 'RangeError'],
    [Object.assign(new Error('odd'), { code: 5 }), 'odd'],
    ['a string', 'a string'],
    [undefined, 'fetch failed']
  ] as const) {
    globalThis.fetch = async () => { throw new TypeError('fetch failed', cause === undefined ? undefined : { cause }) }
    t.equal((await clientFor({ url, token: undefined }).list({}).catch(error => error)).message, `GET ${url}/reconcile? got no response: ${reason}`)
  }
})

t.test('a read has half a minute, a start and its end have as long as they take', async t => {
  const { fetch } = globalThis
  const { timeout } = AbortSignal
  t.teardown(() => { globalThis.fetch = fetch; AbortSignal.timeout = timeout })
  const limits: number[] = []
  AbortSignal.timeout = ms => { limits.push(ms); return timeout.call(AbortSignal, ms) }
  const sent: string[] = []
  globalThis.fetch = async request => {
    const { method, url: target, headers } = request as Request
    sent.push([method, target.slice(url.length), headers.get('authorization'), headers.get('content-type'), await (request as Request).text()].join(' '))
    return new Response('{}', { headers: { 'content-range': 'audit 0-1/1' } })
  }
  const client = clientFor({ url, token: 'secret' })
  await client.start({ mode: 'sync' })
  await client.cancel('r/1')
  await client.list({ status: 'done' })
  t.strictSame(limits, [])
  await client.get('r/1')
  await client.items('r/1', { skip: '0' })
  await client.audit({ sort: 'at' })
  await client.orphans({ shop_id: 's' })
  t.strictSame(limits, Array(4).fill(30_000))
  t.strictSame(sent, [
    'POST /reconcile Bearer secret application/json {"mode":"sync"}', 'DELETE /reconcile/r%2F1 Bearer secret  ', 'GET /reconcile?status=done Bearer secret  ',
    'GET /reconcile/r%2F1?outcome=failed&limit=1 Bearer secret  ', 'GET /reconcile/r%2F1?skip=0 Bearer secret  ', 'GET /audit?sort=at Bearer secret  ', 'GET /orphans?shop_id=s Bearer secret  '
  ])
})

/** A server with this behaviour, and what it was asked. */
async function server (t: { teardown (end: () => unknown): void }, listener: RequestListener) {
  const asked: string[] = []
  const created = createServer((request, response) => { asked.push(`${request.method} ${request.url}`); listener(request, response) })
  await new Promise<void>(resolve => created.listen(0, '127.0.0.1', resolve))
  t.teardown(() => { created.closeAllConnections(); created.close() })
  return { asked, url: `http://127.0.0.1:${(created.address() as AddressInfo).port}` }
}

/** What the command says, with a time that passes by waiting only. */
function surroundings () {
  const said = { stdout: '', stderr: '' }
  let now = 0
  const write = (to: keyof typeof said) => ({ write: (text: string) => { said[to] += text } })
  return { said, stdout: write('stdout'), stderr: write('stderr'), clock: { now: () => now, sleep: async (ms: number) => { now += ms } } }
}

t.test('a refused start is certain, an answer that is none is not', async t => {
  for (const [status, isCertain] of [[400, true], [409, true], [499, true], [500, false], [302, false]] as const) {
    const { url } = await server(t, (_request, response) => { response.writeHead(status).end('{}') })
    const error = await startAndWatch({ url, token: undefined, json: false }, { start: {} }, surroundings()).catch(error => error)
    t.equal(error.code, isCertain ? 'PAY_RECONCILE_REFUSED' : 'PAY_RECONCILE_NOT_WATCHED', String(status))
    t.equal(error.status, isCertain ? status : undefined)
  }
})

t.test('Ctrl-C says when the run could not be cancelled', async t => {
  const known = process.listeners('SIGINT')
  const { asked, url } = await server(t, (request, response) => {
    if (request.method === 'DELETE') response.writeHead(403).end('{"code":"HOST_FORBIDDEN","message":"For superusers only"}')
    else response.end(JSON.stringify({ ...body, status: asked.some(line => line.startsWith('DELETE')) ? 'done' : 'running' }))
  })
  const at = surroundings()
  const pressing = {
    ...at.clock,
    sleep: async () => {
    // As the terminal does, without telling everybody else in this process.
      for (const listener of process.listeners('SIGINT')) if (!known.includes(listener)) listener('SIGINT')
      while (!at.said.stderr.includes('not cancelled')) await new Promise(resolve => setTimeout(resolve, 2))
    }
  }
  t.equal(await startAndWatch({ url, token: undefined, json: false }, { run: 'r' }, { ...at, clock: pressing }), 0)
  t.match(at.said.stderr, /\ncancelling the run; Ctrl-C again ends the command only\nnot cancelled: DELETE \S+\/reconcile\/r got 403: HOST_FORBIDDEN For superusers only\n/)
  t.strictSame(process.listeners('SIGINT'), known, 'nothing listens afterwards')
})

t.test('orphans are read page by page, through an outage', async t => {
  const orphan = (n: number) => ({ pay_customer_id: `cus_${n}`, name: null, email: null, accounts: [] })
  const { asked, url } = await server(t, (request, response) => {
    if (asked.length === 2) response.writeHead(503).end('{}')
    else if (request.url?.includes('after')) response.end(JSON.stringify({ orphans: [orphan(2)], next: null }))
    else response.end(JSON.stringify({ orphans: [orphan(1)], next: 'cus_1' }))
  })
  const at = surroundings()
  t.equal(await run(['--url', url, '--orphans', '--shop', 's/1', '--json'], {}, at), 0)
  t.strictSame(JSON.parse(at.said.stdout), [orphan(1), orphan(2)])
  t.strictSame(asked, ['GET /orphans?shop_id=s%2F1', 'GET /orphans?shop_id=s%2F1&after=cus_1', 'GET /orphans?shop_id=s%2F1&after=cus_1'])
  t.match(at.said.stderr, /^the server responds with 503; retrying \(GET .*\)\n$/)
})

t.test('changes are listed newest first on the screen, oldest first in JSON', async t => {
  const { asked, url } = await server(t, (_request, response) => { response.setHeader('content-range', 'audit 0-100/0').end('[]') })
  for (const more of [[], ['--json'], ['--csv', `${t.testdir({})}/audit.csv`]]) await run(['--url', url, '--audit', '--actor', 'ann', '--shop', 's', ...more], {}, surroundings())
  t.strictSame(asked.map(line => Object.fromEntries(new URL(line.slice(4), url).searchParams)), [
    ['-at', '100'], ['at', '1000'], ['at', '1000']
  ].map(([sort, limit]) => ({ filter: '{"actor":"ann","shop_id":"s"}', sort, skip: '0', limit })))
})

/** Whether this process has a file open; no where the system does not tell. */
function isOpen (path: string): boolean {
  if (!existsSync('/proc/self/fd')) return false
  return readdirSync('/proc/self/fd').some(descriptor => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === path
    } catch {
      return false
    }
  })
}

t.test('a file is closed, whole or not', async t => {
  const path = `${t.testdir({})}/found.csv`
  const { asked, url } = await server(t, (request, response) => {
    if (request.url?.startsWith('/audit')) response.setHeader('content-range', 'audit 0-100/0').end(asked.length > 1 ? '{' : '[]')
    else response.end(JSON.stringify(body))
  })
  const seen: boolean[] = []
  for (const [args, code] of [[['--audit'], 0], [['--audit'], 2], [['--run', 'r'], 0]] as const) {
    const at = surroundings()
    t.equal(await run(['--url', url, ...args, '--csv', path], {}, at), code)
    seen.push(isOpen(path))
  }
  t.strictSame(seen, [false, false, false])
})

t.test('in a terminal the line of progress ends before anything else is said', async t => {
  let text = ''
  const write = (more: string) => { text += more }
  const { clock } = surroundings()
  for (const [status, code, end] of [[200, 0, `${progressLine(body)}\nsync (dry run, nothing was changed): done, 1 of 3 accounts\n`], [403, undefined, `${progressLine({ ...body, status: 'running' })}\n`]] as const) {
    text = ''
    const { asked, url } = await server(t, (_request, response) => {
      if (asked.length === 1) response.end(JSON.stringify({ ...body, status: 'running' }))
      else response.writeHead(status).end(JSON.stringify(body))
    })
    t.equal(await startAndWatch({ url, token: undefined, json: false }, { run: 'r' }, { stdout: { write }, stderr: { write, isTTY: true }, clock }).catch(() => undefined), code)
    t.equal(text.slice(-end.length), end)
  }
})
