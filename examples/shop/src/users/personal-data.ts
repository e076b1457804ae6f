import type { Knex } from 'knex'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Actor } from '../access/caller.ts'
import { fieldsOf, recordChange } from '../records/trail.ts'
import { conflict, notFound, SHOP_ADMIN_ONLY } from '../errors.ts'
import { newer } from '../database/updated-at.ts'
import { checkDecision, type Decision, decideKeys } from './key-decision.ts'
import { didWithKey, keysOf, lockKeysOf, MADE } from '../access/made-by.ts'
import type { Precondition } from '../http/if-match.ts'

/** A person whose data is exported or erased. */
interface Person {
  readonly id: string
  readonly subject: string
}

/** Where a table has rows of a person. */
interface Source {
  /** In SQL. */
  readonly columns: readonly string[]
  /** The rows of the person, in SQL, with the named values `id` and `subject`. */
  readonly where: string
  /** A unique column, by which pages are read. */
  readonly by: string
}

const KEY_COLUMNS = {
  created_by: MADE,
  revoked_by: `(revoked_by = :subject or ${didWithKey("changes->'revoked_at'->>'after' is not null")})`
}

/** As in other answers about keys: since when the key is refused, also if it expired. */
const REFUSED_SINCE = 'least(revoked_at, case when expires_at <= now() then expires_at end) as revoked_at'

const ACTED = ['at', 'shop_id', 'operation', 'tool', 'confirmed', 'action', 'record_kind', 'record_id', 'request_id']

/**
 * Every table that holds data of the people who sign in. What they changed is told without the values: these are of the
 * shop, and can be other people's. Secrets and their digests are left out.
 */
export const SOURCES: Readonly<Record<string, Source>> = {
  users: {
    columns: ['id', 'subject', 'name', 'active', 'roles', 'created_at', 'updated_at'],
    where: 'id = cast(:id as uuid)',
    by: 'id'
  },
  shop_members: {
    columns: ['shop_id', 'role', 'created_at', 'updated_at'],
    where: 'user_id = cast(:id as uuid)',
    by: 'shop_id'
  },
  history: { columns: ['seq', 'actor_name', ...ACTED], where: "actor_kind = 'user' and actor_id = :id", by: 'seq' },
  history_about: {
    columns: ['seq', 'at', 'shop_id', 'operation', 'action', 'record_kind', 'record_name', 'changes'],
    where: "record_kind in ('user', 'member') and record_id = :id",
    by: 'seq'
  },
  imports: {
    columns: ['id', 'shop_id', 'status', 'file_name', 'created_at', 'finished_at'],
    where: "actor->>'kind' = 'user' and actor->>'id' = :id",
    by: 'id'
  },
  idempotency_keys: {
    columns: ['id', 'shop_id', 'operation', 'created_at'],
    where: "caller_kind = 'user' and caller_id = :id",
    by: 'id'
  },
  api_keys: {
    columns: ['id', 'shop_id', 'name', 'prefix', 'created_by', 'created_at', 'revoked_by', REFUSED_SINCE],
    where: Object.values(KEY_COLUMNS).join(' or '),
    by: 'id'
  },
  oauth_grants: {
    columns: ['id', 'client_id', 'client_name', 'scope', 'created_at', 'used_at', 'expires_at', 'ended_at'],
    where: 'subject = :subject',
    by: 'id'
  },
  pay_reconcile_runs: {
    columns: ['id', 'mode', 'dry_run', 'shop_id', 'started_at', 'finished_at'],
    where: 'actor = :id',
    by: 'id'
  },
  pay_reconcile_audit: {
    columns: ['id', 'at', 'action', 'account_id', 'shop_id', 'run_id'],
    where: 'actor = :id',
    by: 'id'
  }
}

const PAGE = 1000

const LAST = 'This is the last active admin'

/** Everything that is stored about a person, as lines of JSON, each with the table that it is from. */
export async function* exportOf (knex: Knex, person: Person): AsyncGenerator<string> {
  const values = { ...person }
  for (const [name, { columns, where, by }] of Object.entries(SOURCES)) {
    const table = name.replace(/_about$/, '')
    for (let last: unknown = null, count = PAGE; count === PAGE;) {
      const rows: ReadonlyArray<Record<string, unknown>> = await knex(table).select(knex.raw(columns.join(', ')))
        .whereRaw(`(${where})`, values)
        .modify((query) => {
          if (last !== null) query.where(by, '>', last as string)
        }).orderBy(by).limit(PAGE)
      for (const row of rows) yield `${JSON.stringify({ table, ...row })}\n`
      count = rows.length
      last = rows.at(-1)?.[by]
    }
  }
}

/** Replaces the name of a person wherever it is stored. */
async function nameEverywhere (trx: Knex.Transaction, { id }: Person, name: string | null): Promise<void> {
  await trx.raw("select set_config('history.erase', 'on', true)")
  await trx('history').where({ actor_kind: 'user', actor_id: id }).whereNotNull('actor_name').update({
    actor_name: name
  })
  await trx('history').whereIn('record_kind', ['user', 'member']).where({ record_id: id }).whereNotNull('record_name')
    .update({ record_name: name })
  await trx('imports').whereRaw("actor->>'kind' = 'user' and actor->>'id' = ?", [id]).update({
    actor: trx.raw("actor || jsonb_build_object('name', ?::text)", [name])
  })
}

/** Records that a person has another name, and gives it to what they did before. */
export async function replaceName (
  trx: Knex.Transaction,
  actor: Actor,
  { id, subject, name }: Person & { readonly name: string | null }
): Promise<void> {
  // Without the names: the entry would keep the old one.
  await recordChange(trx, actor, {
    shopId: null,
    recordKind: 'user',
    recordId: id,
    recordName: name,
    before: {},
    after: {},
    evenIfEqual: true
  })
  await nameEverywhere(trx, { id, subject }, name)
}

/**
 * Gives a person another name, also in what they did before. A later sign-in sets the name that the token has.
 *
 * @throws {@link SHOP_NOT_FOUND}
 */
export async function renamePerson (knex: Knex, actor: Actor, id: string, name: string): Promise<void> {
  await knex.transaction(async (trx) => {
    const [user] = await trx('users').where({ id }).update({ name, updated_at: newer(trx) }).returning('*')
    if (user === undefined) throw notFound('user', id)
    await replaceName(trx, actor, user)
  })
}

/** What ends the sign-ins of apps; undefined without the broker. */
export type Grants = FastifyInstance['oauthGrants']

/** What a person is deleted with. */
interface Deletion extends Decision {
  readonly grants: Grants
  readonly log?: FastifyBaseLogger
  readonly precondition?: Precondition | undefined
}

/**
 * Deletes a person: who they are is gone everywhere, and what they did stays, by an id that leads to nobody. Their
 * sign-ins through the broker end first, and their API keys with them, unless others take them over. Whoever has a
 * valid token afterwards is a new person without any rights.
 *
 * @throws {@link SHOP_INVALID} about `keys_to`
 * @throws {@link SHOP_ADMIN_ONLY} if the caller is no longer an admin
 * @throws {@link SHOP_NOT_FOUND} | {@link SHOP_PRECONDITION_FAILED}
 * @throws {@link SHOP_CONFLICT} if no active admin would be left
 */
export async function deletePerson (
  knex: Knex,
  asked: string,
  actor: Actor,
  { grants, log, precondition, keys = 'revoke', keys_to: to }: Deletion
): Promise<void> {
  const decision = { keys, ...to !== undefined && { keys_to: to } }
  const known = await knex('users').where({ id: asked }).first()
  if (known === undefined) throw notFound('user', asked)
  precondition?.(known)
  // The path may have it in capitals, and the history compares it as text.
  const { id } = known
  const isLast = async (on: Knex): Promise<boolean> => {
    const admins = await on('users').where({ active: true }).whereRaw("'admin' = any(roles)").orderBy('id').modify(
      (query) => {
        if (on.isTransaction === true) query.forUpdate()
      }
    ).select('id')
    // Two admins who delete each other: only one succeeds.
    if (actor.kind === 'user' && !admins.some((admin: { readonly id: string }) => admin.id === actor.id)) {
      throw new SHOP_ADMIN_ONLY()
    }
    return admins.length === 1 && admins[0].id === id
  }
  if (await isLast(knex)) throw conflict('user_id', LAST)
  await checkDecision(knex, known, await keysOf(knex, known), decision)
  if (grants !== undefined) {
    for (const grant of await grants.list(known.subject, log)) await grants.end(known.subject, grant.id, log)
  }
  await knex.transaction(async (trx) => {
    await lockKeysOf(trx, known)
    const last = await isLast(trx)
    const person = await trx('users').where({ id }).forUpdate().first()
    if (person === undefined) throw notFound('user', id)
    precondition?.(person)
    if (last) throw conflict('user_id', LAST)
    // Those too that were handed over to them meanwhile: from here on none can be.
    await decideKeys(trx, actor, person, await keysOf(trx, known), decision)
    await recordChange(trx, actor, {
      shopId: null,
      recordKind: 'user',
      recordId: id,
      recordName: null,
      before: fieldsOf(person, ['active', 'roles']),
      after: null
    })
    await nameEverywhere(trx, person, null)
    await trx('history').whereIn('record_kind', ['user', 'member']).where({ record_id: id }).whereRaw(
      "jsonb_exists(changes, 'subject')"
    ).update({ changes: trx.raw("changes - 'subject'") })
    for (const [column, isTheirs] of Object.entries(KEY_COLUMNS)) {
      await trx('api_keys').whereRaw(isTheirs, { id, subject: person.subject }).update({ [column]: id })
    }
    // They chose the names of their files, which may have their own.
    await trx('imports').whereRaw("actor->>'kind' = 'user' and actor->>'id' = ?", [id]).update({ file_name: null })
    // Nobody can repeat their calls.
    await trx('idempotency_keys').where({ caller_kind: 'user', caller_id: id }).delete()
    // Rows of ended sign-ins keep a refresh under way from bringing them back, until they expire.
    await trx('oauth_grants').where({ subject: person.subject }).update({
      subject: id,
      provider_token: null,
      ended_at: trx.raw('coalesce(ended_at, now())')
    })
    await trx('users').where({ id }).delete()
  })
}
