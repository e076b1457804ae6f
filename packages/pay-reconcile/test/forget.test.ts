import t from 'tap'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { forgetAccounts, knexAccountStore, knexRunStore } from '../src/knex/index.ts'
import { itemOf } from '../src/reconcile/item.ts'
import { untilOver } from './bulk.ts'
import { engines, postgresql } from './database.ts'
import { build, host, shopKey } from './world.ts'

for (const engine of engines) {
  t.test(
    `nothing names an account that is deleted and forgotten, on ${engine.name}`,
    { skip: engine.skip },
    async (t) => {
      const world = await build(t, await engine.connect(t), { perSecond: 2000 })
      const { knex, standIn, addShop, addAccount } = world
      const { call } = await host(t, knex, standIn, { perSecond: 2000 })
      const { customers } = standIn.account(shopKey)
      const person = async (name: string, shopId: string) => {
        const email = `${name}@example.org`
        const id = await addAccount(shopId, { email }, { name })
        customers.set(`cus_${name}`, { id: `cus_${name}`, object: 'customer', name, email })
        const [item] = await over({ mode: 'link', accounts: [id] })
        await over({ mode: 'link', accept: [item.id], dry_run: false })
        for (const phone of ['1', '2']) {
          customers.set(`cus_${name}`, { ...customers.get(`cus_${name}`)!, phone })
          await call('POST', `/admin/accounts/${id}/sync-pay`)
        }
        return id
      }
      const over = async (body: object) => {
        const { id } = (await call('POST', '/admin/accounts/reconcile', body)).json()
        await untilOver(world, id)
        return (await call('GET', `/admin/accounts/reconcile/${id}`)).json().items
      }
      /** The tables whose rows name somebody, apart from the ids of customers. */
      const naming = async (name: string) => {
        const tables = []
        for (const table of ['audit', 'snapshots', 'runs', 'run_shops', 'items']) {
          const { rows } = await knex.raw(
            `select 1 from pay_reconcile_${table} r where replace(to_jsonb(r)::text, ?, '') like ?`,
            [`cus_${name}`, `%${name}%`]
          )
          if (rows.length > 0) tables.push(table)
        }
        return tables
      }
      const [here, there] = [await addShop(), await addShop()]
      const zelda = await person('zelda', here)
      await person('hugo', here)
      await person('ines', there)
      t.strictSame(
        [await naming('zelda'), await naming('hugo'), await naming('ines')],
        Array(3).fill(['snapshots', 'items'])
      )
      await knex.transaction(async (trx) => {
        await trx('accounts').where('id', zelda).delete()
        await forgetAccounts(trx, { accountId: zelda })
      })
      t.strictSame([await naming('zelda'), await naming('hugo'), await naming('ines')], [
        [],
        ['snapshots', 'items'],
        ['snapshots', 'items']
      ])
      await forgetAccounts(knex, { shopId: here })
      t.strictSame([await naming('hugo'), await naming('ines')], [[], ['snapshots', 'items']])
      const karl = await addAccount(there, { email: 'karl@example.org' }, { name: 'karl' })
      const runs = knexRunStore(knex)
      const lease = { owner: randomUUID(), duration: 60_000 }
      const run = {
        id: randomUUID(),
        mode: 'check',
        dryRun: true,
        shopId: there,
        actor: 'a',
        requestId: null,
        selection: {},
        scheduledFor: null
      } as const
      await runs.start(run, [{ shopId: there, accounts: 1 }], null)
      const part = await runs.claim(run.id, lease)
      const read = await knexAccountStore(knex).get(karl)
      const advance = async () =>
        await runs.advance({ ...part!, processed: 1, outcomes: { different: 1 } }, [
          itemOf(read!, 'different', { differences: ['missing'] })
        ], lease)
      // Before the deletion is over, where there are two connections.
      const advanced = await knex.transaction(async (trx) => {
        await trx('accounts').where('id', karl).delete()
        await forgetAccounts(trx, { accountId: karl })
        const advancing = advance()
        if (engine === postgresql) await Promise.race([advancing, sleep(200)])
        return { advancing }
      })
      t.equal(await advanced.advancing, 'continue')
      t.strictSame(await naming('karl'), [], 'a run that had read the account adds nothing')
      t.match(
        await knex('pay_reconcile_audit').where('account_id', zelda).pluck('action'),
        ['link', 'sync', 'sync'],
        'the audit stays'
      )
    }
  )
}
