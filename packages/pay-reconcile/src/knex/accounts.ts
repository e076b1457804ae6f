import type { Knex } from 'knex'
import { type Complete, FUNCTION, integer, OBJECT, type Table, TEXT } from '#shared/option-table'
import { PAY_RECONCILE_CUSTOMER_TAKEN, PAY_RECONCILE_DETAILS_NOT_OBJECT } from '../errors.ts'
import type { Account, AccountFilter, AccountStore, ChangeOrigin, ChangeResult, ScannedAccount } from '../types.ts'
import { must, settingsBy } from '../option-checks.ts'
import { remembered } from '../remembered.ts'
import { payStringIn } from '../lists/pay-string.ts'
import { whereAny } from '../lists/listed.ts'
import { accountPage, ACCOUNT_COLUMNS, accountFrom, accountsWithShops } from './account-page.ts'
import {
  hostTables,
  neededTables,
  TABLE_OPTIONS,
  type AccountTable,
  type HostTables,
  type OnlyShop,
  type Registered
} from './account-table.ts'
import { auditTrail } from './audit.ts'
import { limitsFrom } from './account-limits.ts'
import { changeStore } from './changes.ts'
import { checkColumns, hostColumns, searchableName, type HostColumns } from './host-columns.ts'
import { record, recordsOf, violates } from './records.ts'
import { register } from './registration.ts'
import { assertUsable, demandPostgres, leavesNames } from './startup.ts'
import { demandColumns } from './tables.ts'

/** For PostgreSQL: the blanks around an address. */
const BLANK_ENDS = '^[\\s\\u00a0]+|[\\s\\u00a0]+$'

/** The tables of accounts and shops, and how to read a shop's key. */
export interface KnexAccountStoreOptions extends AccountTable, Registered {
  /**
   * Table with id, shop_id, name, hash_name and details (`jsonb` or `json`), or with the columns of `columns`. Default
   * `accounts`. Ids may be text, varchar, char, uuid, smallint, integer or bigint; the same holds for shops.
   */
  readonly table?: string
  /**
   * The application has one account at the provider, and no shops: every account is of this one. In place of
   * `shopTable` and `openKey`.
   */
  readonly shop?: OnlyShop
  /** Table with id, name and pay_secret_key. Default `shops`. */
  readonly shopTable?: string
  /** Decrypts the stored pay_secret_key. Default: it is plain text. */
  readonly openKey?: (stored: string, shopId: string) => string | Promise<string>
  /** For how many days a snapshot that was replaced can be read back; 0: not at all. Default 30. */
  readonly keepSnapshots?: number
}

const TABLE: Table<Complete<KnexAccountStoreOptions, 'registration' | 'shop'>> = {
  ...TABLE_OPTIONS,
  shop: { ...OBJECT, secret: true },
  shopTable: { ...TEXT, default: 'shops' },
  openKey: { ...FUNCTION, secret: true, default: (stored) => stored },
  keepSnapshots: { ...integer(0, 36_500), default: 30 }
}

/** A change of details: the new value and its condition, in SQL over the account `b` as it is, locked. */
interface Write {
  readonly action: string
  /** Of `details` without the customer's id. */
  readonly value: string
  /** The customer's new id; undefined: it stays. */
  readonly customer?: string
  readonly guard: string
  readonly bindings: Readonly<Record<string, string>>
}

/**
 * A snapshot from up to a minute in the future was stored by a replica whose clock is ahead: it is newer. This service
 * did not write any later time, which must not block every later sync.
 */
const CLOCK_SKEW = 60_000

/**
 * Accounts in PostgreSQL. Needs the tables of {@link createPayReconcileTables}.
 *
 * Each write is one statement: it locks the row, changes only its own keys of `details`, inserts the audit row and
 * keeps the snapshot that it replaces. Concurrent writers of other keys lose nothing.
 */
export function knexAccountStore (knex: Knex, options: KnexAccountStoreOptions = {}): AccountStore {
  const given = settingsBy(TABLE, options, 'knexAccountStore')
  const { shopTable, openKey, keepSnapshots, shop } = given
  demandPostgres(knex)
  must(
    shop === undefined || (options.shopTable ?? options.openKey) === undefined,
    'shopTable and openKey have no use with shop'
  )
  const tables = hostTables(knex, given)
  const { accounts, shops, name: table, columns, registration } = tables
  // Before anything is read or written: the tables could be about other accounts of the same name.
  const registered = remembered(() => register(knex, tables))
  const trail = auditTrail(knex, { registration, registered, days: keepSnapshots })
  const storedId = tables.customerId('a')
  const ids = remembered(async () => {
    await registered()
    return await hostColumns(knex, tables)
  })
  const name = remembered(() => searchableName(knex, tables))
  /** Accounts with their shops. @param more - what to read of each beside the account, in SQL with its bindings */
  const accountsOf = <More = unknown>(
    query: (rows: Knex.QueryBuilder) => Knex.QueryBuilder,
    more: Readonly<Record<string, string>> = {},
    bindings: readonly string[] = []
  ) =>
    recordsOf<Account & More>(
      knex,
      query(accountsWithShops(knex, tables)).select(knex.raw(record({ ...ACCOUNT_COLUMNS, ...more }), bindings))
    )

  async function write (
    accountId: string,
    origin: ChangeOrigin,
    { action, bindings, ...change }: Write
  ): Promise<ChangeResult> {
    if (!(await ids()).account(accountId)) return { changed: false, account: undefined }
    const [row] = await recordsOf<Account>(
      knex,
      knex.raw(writeStatement(tables, change), {
        table,
        shops,
        id: columns.id,
        ...bindings,
        accountId,
        action,
        ...origin,
        registration,
        keepSnapshots
      })
    ).catch((error) => noRowsIfDoneByRun(columns.customerId === null ? error : takenIfUnique(error)))
    if (row) return { changed: true, account: accountFrom(row) }
    const [current] = await accountsOf<{ readonly isObject: boolean }>((rows) => rows.where('a.id', accountId), {
      isObject: isObjectOrNull(tables.stored('a'))
    })
    if (!current) return { changed: false, account: undefined }
    const { isObject, ...account } = current
    if (!isObject) throw new PAY_RECONCILE_DETAILS_NOT_OBJECT()
    return { changed: false, account: accountFrom(account) }
  }

  return {
    ready: () =>
      assertUsable(
        Promise.all([
          leavesNames(knex),
          checkColumns(knex, tables),
          ids(),
          name(),
          accountsOf((rows) => rows.limit(0)),
          demandColumns(knex, [
            'pay_reconcile_registrations',
            'pay_reconcile_audit',
            'pay_reconcile_snapshots',
            'pay_reconcile_changed'
          ])
        ]),
        `knexAccountStore needs ${neededTables(tables)}, and the tables of createPayReconcileTables`
      ),

    ...trail,
    registration,
    changes: changeStore(knex, tables, registered),

    async hasUuids () {
      const { accountType } = await ids()
      if (accountType === 'uuid') return true
      if (/int$|integer/.test(accountType)) return false
      const [row] = await recordsOf<{ readonly others: boolean }>(
        knex,
        knex.raw(
          'select ' +
            `${
              record({
                others: `exists (select from (select a.id::text as id from ? limit 100) a
                    where a.id !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$')`
              })
            }`,
          [accounts('a')]
        )
      )
      return row?.others ? false : undefined
    },

    async list (query) {
      return accountPage(knex, tables, await name(), { ...query, filter: withPossibleIds(query.filter, await ids()) })
    },

    async get (id) {
      if (!(await ids()).account(id)) return undefined
      const [row] = await accountsOf((rows) => rows.where('a.id', id))
      return row && accountFrom(row)
    },

    async secretKey (shopId) {
      if (shop) return shopId === (shop.id ?? 'main') ? shop.secretKey ?? null : null
      if (!(await ids()).shop(shopId)) return null
      const [row] = await recordsOf<{ readonly key: string | null }>(
        knex,
        knex(shopTable).where('id', shopId).select(knex.raw(record({ key: 'pay_secret_key' })))
      )
      return row?.key ? await openKey(row.key, shopId) : null
    },

    link: ({ action, accountId, customerId, expected }, origin) =>
      write(accountId, origin, {
        action,
        value: withoutSnapshot,
        customer: ':customerId::text',
        guard: expected === undefined
          ? `${lockedId} is distinct from :customerId`
          : `coalesce(${lockedId}, '') = :expected`,
        bindings: { customerId, expected: expected ?? '' }
      }),

    unlink: ({ accountId, expected }, origin) =>
      write(accountId, origin, {
        action: 'unlink',
        value: withoutSnapshot,
        customer: 'null',
        guard: `${lockedId} ${expected === undefined ? 'is not null' : '= :expected'}`,
        bindings: { expected: expected ?? '' }
      }),

    saveSnapshot: ({ accountId, customerId, customer, syncedAt }, origin) =>
      write(accountId, origin, {
        action: 'sync',
        value: `${
          customer.deleted === true
            ? `${OBJECT_DETAILS} || ${BEFORE_DELETION}`
            : `(${OBJECT_DETAILS} - 'pay_customer_before_deletion')`
        } ||
        jsonb_build_object('pay_customer', :customer::jsonb, 'pay_synced_at', :syncedAt::text)`,
        guard: `${lockedId} = :customerId and not (
        coalesce(${lockedAt}, '') collate "C" > :syncedAt and
        coalesce(${lockedAt}, '') collate "C" <= :horizon)`,
        bindings: {
          customerId,
          customer: JSON.stringify(customer),
          syncedAt,
          horizon: new Date(Date.parse(syncedAt) + CLOCK_SKEW).toISOString()
        }
      }),

    async shops (shopId, only = {}) {
      if (shopId !== undefined && !(await ids()).shop(shopId)) return []
      const limits = await limitsFrom(knex, only, await ids(), tables)
      const counted = knex(accounts('a')).whereRaw('a.shop_id = s.id').modify(limits).select(knex.raw('count(*)'))
      const all = await recordsOf<{ readonly shopId: string, readonly accounts: number }>(
        knex,
        knex(shops)
          .modify((query) => {
            if (shopId !== undefined) query.where('s.id', shopId)
          })
          .select(knex.raw(record({ shopId: 's.id::text', accounts: '(?)' }), [counted])).orderBy('s.id')
      )
      return shopId !== undefined || Object.keys(only).length === 0 ? all : all.filter(({ accounts }) => accounts > 0)
    },

    async scan ({ shopId, after, limit, runId, only }) {
      const limits = await limitsFrom(knex, only, await ids(), tables)
      const page = await accountsOf<Omit<ScannedAccount, 'account'>>((rows) =>
        rows.where('a.shop_id', shopId)
          .modify((query) => {
            if (after !== null) query.where('a.id', '>', after)
          }).modify(limits).orderBy('a.id').limit(limit), {
        duplicate:
          `exists (select 1 from ${accounts('o').toString()} where o.shop_id = a.shop_id and o.id <> a.id and ` +
          `${tables.customerId('o')} = ${storedId})`,
        changedByRun: 'exists (select 1 from pay_reconcile_audit c where c.run_id = ? and c.account_id = a.id::text)'
      }, [runId])
      return page.map(({ duplicate, changedByRun, ...account }) => ({
        account: accountFrom(account),
        duplicate,
        changedByRun
      }))
    },

    async accountsLike (shopId, wanted, emails) {
      const isId = (await ids()).account
      const found = await accountsOf((rows) =>
        rows.where('a.shop_id', shopId)
          .where((any) => {
            any.whereIn('a.id', wanted.filter(isId)).orWhereRaw(
              "(a.details->>'email' = any(?::text[]) or lower(regexp_replace(a.details->>'email', ?, '', 'g')) " +
                '= any(?::text[]))',
              [[...emails], BLANK_ENDS, [...emails]]
            )
          })
          .orderBy('a.id').limit(1000)
      )
      return found.map(accountFrom)
    },

    async linkedCustomers (shopId, customerIds) {
      const linked = await recordsOf<{ readonly id: string }>(
        knex,
        knex(accounts('a')).where('a.shop_id', shopId).modify((query) => whereAny(query, customerIds, storedId))
          .select(knex.raw(record({ id: storedId })))
      )
      return new Set(linked.map(({ id }) => id))
    },

    async linkedElsewhere (shopId, customerIds) {
      return recordsOf<{ readonly shopId: string, readonly customerId: string }>(
        knex,
        knex(accounts('a')).whereNot('a.shop_id', shopId)
          .modify((query) => whereAny(query, customerIds, storedId)).distinct(
            knex.raw(record({ shopId: 'a.shop_id::text', customerId: storedId }))
          )
      )
    }
  }
}

/** The filter without ids that the columns cannot hold: they match nothing. */
function withPossibleIds (filter: AccountFilter, { account, shop }: HostColumns): AccountFilter {
  return {
    ...filter,
    ...(filter.id && { id: filter.id.filter(account) }),
    ...(filter.shop_id && { shop_id: filter.shop_id.filter(shop) })
  }
}

/**
 * A run changes an account once. If a process that lost its lease without knowing changed it already, the statement is
 * rolled back, and the account is read as that process left it.
 */
function noRowsIfDoneByRun (error: unknown): readonly Account[] {
  if (violates('pay_reconcile_audit_once_per_run', error)) return []
  throw error
}

/**
 * Another account has the customer, if the host's column allows each but once: a write changes nothing else that is
 * unique.
 */
function takenIfUnique (error: unknown): unknown {
  const isOurs = error instanceof Error && 'constraint' in error &&
    String(error.constraint).startsWith('pay_reconcile_')
  return error instanceof Error && 'code' in error && error.code === '23505' && !isOurs
    ? new PAY_RECONCILE_CUSTOMER_TAKEN()
    : error
}

/** Whether nothing is lost when keys are added to stored details; NULL and JSON null count as an empty object. */
const isObjectOrNull = (stored: string): string =>
  `coalesce(jsonb_typeof(${stored}::jsonb), 'null') in ('object', 'null')`

/** The details of the locked account as an object; NULL and JSON null become an empty one. */
const OBJECT_DETAILS = "(case when jsonb_typeof(b.stored) = 'object' then b.stored else '{}'::jsonb end)"

const withoutSnapshot = `(${OBJECT_DETAILS} - '{pay_customer,pay_customer_before_deletion,pay_synced_at}'::text[])`

/** The customer of the locked account, and when its snapshot was stored. */
const lockedId = payStringIn('b.details', 'pay_customer_id')
const lockedAt = payStringIn('b.details', 'pay_synced_at')

/** The last snapshot from before the deletion, if there is one, in an object. */
const BEFORE_DELETION = `(case
  when jsonb_typeof(b.stored->'pay_customer') = 'object' and b.stored->'pay_customer'->'deleted' is distinct from 'true'
  then jsonb_build_object('pay_customer_before_deletion', b.stored->'pay_customer') else '{}' end)`

/** What the audit records of details: the customer id, the time and a hash of the snapshot; no personal data. */
function auditedDetails (row: string): string {
  return `jsonb_build_object(
    'pay_customer_id', ${payStringIn(`${row}.details`, 'pay_customer_id')},
    'pay_synced_at', ${payStringIn(`${row}.details`, 'pay_synced_at')},
    'snapshot_sha256', encode(sha256(convert_to((${row}.details->'pay_customer')::text, 'UTF8')), 'hex'))`
}

function writeStatement (
  { fields, assigned }: HostTables,
  { value, customer, guard }: Pick<Write, 'value' | 'customer' | 'guard'>
): string {
  return `
    with before as (
      select ${fields('a')} from :table: a where a.:id: = :accountId for update
    ), changed as (
      update :table: a set ${assigned(value, customer)} from before b
      where a.:id: = b.id and ${isObjectOrNull('b.stored')} and ${guard}
      returning ${fields('a')}
    ), logged as (
      insert into pay_reconcile_audit (registration, actor, action, account_id, shop_id, run_id, before, after,
        provider_request_id, request_id)
      select :registration, :actor, :action, c.id::text, c.shop_id::text, :runId::uuid, ${auditedDetails('b')}, ${
    auditedDetails('c')
  }, :providerRequestId, :requestId
      from changed c join before b on b.id = c.id returning id
    ), kept as (
      insert into pay_reconcile_snapshots (audit_id, registration, account_id, shop_id, customer_id, customer)
      select l.id, :registration, c.id::text, c.shop_id::text, ${
    payStringIn('b.details', 'pay_customer_id')
  }, b.details->'pay_customer'
      from logged l, changed c join before b on b.id = c.id
      where :keepSnapshots::int > 0 and jsonb_typeof(b.details->'pay_customer') = 'object'
        and b.details->'pay_customer' is distinct from c.details->'pay_customer'
    ), noted as (
      insert into pay_reconcile_changed (registration, account_id, shop_id)
        select :registration, c.id::text, c.shop_id::text from changed c where :action in ('link', 'create')
      on conflict (registration, account_id) do update set version = excluded.version
    )
    select ${record(ACCOUNT_COLUMNS)} from changed a join :shops on s.id = a.shop_id`
}
