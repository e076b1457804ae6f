/* eslint no-template-curly-in-string: 0 -- these are lines of sources */
import type { Bug } from './bug.ts'

export const bugs: readonly Bug[] = [
  {
    suffered: 'a change that is noted while a run reads is deleted unread: the moment is taken too late',
    file: 'src/reconcile/shop.ts',
    before: 'changes?.done(doneAccounts(finished), moment)',
    after: 'changes?.done(doneAccounts(finished), await sources.accounts.changes.moment())',
    noticedBy: 'test/changes.test.ts'
  },
  {
    suffered: 'a run ends before its changes are marked as read: the next one starts at once and reads them again',
    file: 'src/reconcile/shop.ts',
    before: "next !== 'lost') await sources.accounts.changes?.done(",
    after: "next !== 'lost') void sources.accounts.changes?.done(",
    noticedBy: 'test/changes.test.ts'
  },
  {
    suffered: 'a process that lost its run marks changes as read that nobody has stored',
    file: 'src/reconcile/shop.ts',
    before: "if (moment !== undefined && !run.dryRun && next !== 'lost') await",
    after: 'if (moment !== undefined && !run.dryRun) await',
    noticedBy: 'test/changes.test.ts'
  },
  {
    suffered: 'somebody who lost access goes on changing accounts of other shops by a run that is under way',
    file: 'src/reconcile/shop.ts',
    before: '&& !await limits.mayContinue({ id: run.id, actor: run.actor })) return',
    after: '&& part.processed === 0 && !await limits.mayContinue({ id: run.id, actor: run.actor })) return',
    noticedBy: 'test/reconcile.test.ts'
  },
  {
    suffered: 'accounts that could not be read for a moment are never read again',
    file: 'src/reconcile/changes.ts',
    before: "outcome === 'failed' ? lasting.has(errorCode) : reason !== 'before_interruption'",
    after: "outcome !== 'skipped' && reason !== 'before_interruption'",
    noticedBy: 'test/changes.test.ts'
  },
  {
    suffered: 'events that arrive late are never read',
    file: 'src/reconcile/changes.ts',
    before: '(isComplete ? Date.parse(position.until) : now) - overlap)',
    after: '(isComplete ? Date.parse(position.until) : now))',
    noticedBy: 'test/changes.test.ts'
  },
  {
    suffered: 'a delivery that comes while the run of its shop ends is forgotten',
    file: 'src/knex/awaited.ts',
    before: 'do update set run_id = null, attempts = 0, due = now()',
    after: 'do update set attempts = 0, due = now()',
    noticedBy: 'test/webhooks.test.ts'
  },
  {
    suffered: 'a webhook whose run failed waits a day for the next one: the note is deleted all the same',
    file: 'src/reconcile/runner.ts',
    before: "if (!shop || (ending.status === 'done' && shop.accounts === 0)) return",
    after: "if (!shop || ending.status === 'done') return",
    noticedBy: 'test/webhooks.test.ts'
  },
  {
    suffered: 'a delivery that was repeated starts a run each time',
    file: 'src/knex/awaited.ts',
    before: 'return fresh.length > 0',
    after: 'return true',
    noticedBy: 'test/webhooks.test.ts'
  },
  {
    suffered: 'a snapshot of an hour ago replaces the one of a minute ago',
    file: 'src/reconcile/account.ts',
    before: 'if (page && listed && !isNewer) return',
    after: 'if (page && listed) return',
    noticedBy: 'test/reconcile.test.ts'
  },
  {
    suffered: 'the customer of one account is stored under another one that was linked meanwhile',
    file: 'src/knex/accounts.ts',
    before: 'guard: `${storedId} = :customerId and not (',
    after: 'guard: `${storedId} is not null and not (',
    noticedBy: 'test/concurrency.test.ts'
  },
  {
    suffered: 'an accepted suggestion is linked although somebody renamed the account since',
    file: 'src/reconcile/item.ts',
    before: '&& excerpt(account.name) === accountName',
    after: '&& accountName !== null',
    noticedBy: 'test/mend.test.ts'
  },
  {
    suffered: 'a customer that an account of another shop has under the same key is linked twice',
    file: 'src/reconcile/account.ts',
    before: 'await linkedUnderKey(sources, account.shopId, secretKey, ids)',
    after: 'await accounts.linkedCustomers(account.shopId, ids)',
    noticedBy: 'test/reconcile.test.ts'
  },
  {
    suffered: 'customers whose address is written with capitals are not suggested',
    file: 'src/customers/address.ts',
    before: '[...new Set([email.trim(), email.trim().toLowerCase()])]',
    after: '[...new Set([email.trim()])]',
    noticedBy: 'test/reconcile.test.ts'
  },
  {
    suffered: 'a customer is not matched to the account that writes its address with blanks around it',
    file: 'src/customers/address.ts',
    before: "typeof email === 'string' ? email.trim().toLowerCase() || undefined : undefined",
    after: "typeof email === 'string' ? email.toLowerCase() || undefined : undefined",
    noticedBy: 'test/orphans.test.ts'
  },
  {
    suffered: 'a run on accounts by ids in capitals finds nobody',
    file: 'src/reconcile/runner.ts',
    before: '    return shop.shopId\n',
    after: '    return shopId\n',
    noticedBy: 'test/ids.test.ts'
  },
  {
    suffered: 'a run goes on with the key that the shop has just replaced, and stops',
    file: 'src/reconcile/shop-key.ts',
    before: 'if (current === rejected) current = await read()',
    after: 'if (current === rejected) void read().then(key => { current = key })',
    noticedBy: 'test/bulk-trouble.test.ts'
  },
  {
    suffered: 'a run waits a thousand times too long, or not at all, when the provider says when to come back',
    file: 'src/provider/backoff.ts',
    before: 'Date.parse(value) - now : seconds * 1000',
    after: 'Date.parse(value) - now : seconds',
    noticedBy: 'test/differences.test.ts'
  },
  {
    suffered: 'shops that share a key call twice as fast as the provider allows',
    file: 'src/reconcile/rate-limit.ts',
    before: 'return perKey(() => rateLimit(1000 / perSecond))',
    after: 'return () => rateLimit(1000 / perSecond)',
    noticedBy: 'test/bulk-trouble.test.ts'
  },
  {
    suffered: 'one account that hangs keeps the request of a person waiting for ever',
    file: 'src/provider/time-limit.ts',
    before: 'return await Promise.race([work(signal), endOf(signal)])',
    after: 'return await work(signal)',
    noticedBy: 'test/provider-calls.test.ts'
  },
  {
    suffered: 'a caller who gives up opens the gate of a shop that is closed: aborts count as successes',
    file: 'src/provider/gate.ts',
    before: "if (!isProviderError(error) || error.fault === 'aborted' || error.fault === 'unavailable') return",
    after: "if (!isProviderError(error) || error.fault === 'unavailable') return",
    noticedBy: 'test/provider-calls.test.ts'
  },
  {
    suffered: 'the CSV of a long run has some lines twice and lacks others',
    file: 'src/admin/csv-reply.ts',
    before: 'skip += page.records.length',
    after: 'skip += pageSize',
    noticedBy: 'test/csv.test.ts'
  },
  {
    suffered: 'changes that are made while a CSV is read push others out of it',
    file: 'src/admin/audit-routes.ts',
    before: "query.sort ?? { field: 'at', descending: false } as const",
    after: "query.sort ?? { field: 'at', descending: true } as const",
    noticedBy: 'test/csv.test.ts'
  },
  {
    suffered: 'a CSV that fails in the middle looks complete',
    file: 'src/admin/csv-reply.ts',
    before: 'page = await read({ skip, limit: pageSize })) {',
    after: 'page = await read({ skip, limit: pageSize }).catch(() => ({ records: [], count: 0 }))) {',
    noticedBy: 'test/csv.test.ts'
  },
  {
    suffered: 'a spreadsheet runs what a customer wrote as their name',
    file: 'src/csv/csv.ts',
    before: 'const formula = /^[=+\\-@\\t\\r\\n\\uff1d\\uff0b\\uff0d\\uff20]/u',
    after: 'const formula = /^[=+@\\t\\r\\n\\uff1d\\uff0b\\uff0d\\uff20]/u',
    noticedBy: 'test/csv.test.ts'
  },
  {
    suffered: 'after a clock change the daily run comes an hour early or late',
    file: 'src/schedule/scheduler.ts',
    before: "new Cron(pattern, { mode: '5-part', timezone, unref: true }, startDue)",
    after: "new Cron(pattern, { mode: '5-part', unref: true }, startDue)",
    noticedBy: 'test/schedule.test.ts'
  },
  {
    suffered: 'two processes start the run of a slot',
    file: 'src/knex/runs.ts',
    before: 'where mode = :mode and slot < :slot returning slot',
    after: 'where mode = :mode and slot <= :slot returning slot',
    noticedBy: 'test/schedule.test.ts'
  },
  {
    suffered: 'two processes work on the same shop',
    file: 'src/knex/runs.ts',
    before: "(p.status = 'running' and p.leased_until < now()))",
    after: "p.status = 'running')",
    noticedBy: 'test/bulk-trouble.test.ts'
  },
  {
    suffered: 'a process whose lease has ended overwrites the progress of the next one',
    file: 'src/knex/runs.ts',
    before: "where run_id = ? and shop_id = ? and owner = ? and status = 'running' returning run_id, shop_id",
    after: "where run_id = ? and shop_id = ? and ?::text is not null and status = 'running' returning run_id, shop_id",
    noticedBy: 'test/concurrency.test.ts'
  },
  {
    suffered: 'an account that is deleted while it is read leaves its name and address in the run',
    file: 'src/knex/runs.ts',
    before: ".select(knex.raw('id::text as id')).forKeyShare()",
    after: ".select(knex.raw('id::text as id'))",
    on: 'postgres',
    noticedBy: 'test/forget.test.ts'
  },
  {
    suffered: 'a checkout that is repeated under another spelling of the account makes a second customer',
    file: 'src/customers/ensure.ts',
    before: '{ secretKey, accountId: account.id, signal: caller.signal, gone: linked }',
    after: '{ secretKey, accountId: wanted.accountId, signal: caller.signal, gone: linked }',
    noticedBy: 'test/ids.test.ts'
  },
  {
    suffered: 'a checkout takes over the customer of another account that was created meanwhile',
    file: 'src/customers/ensure.ts',
    before: "action: 'create', accountId: account.id, customerId: value.id, expected: linked }",
    after: "action: 'create', accountId: account.id, customerId: value.id, expected: null }",
    noticedBy: 'test/new-customer.test.ts'
  }
]
