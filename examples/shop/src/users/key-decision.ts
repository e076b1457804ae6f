import { type Static, Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import type { Actor } from '../access/caller.ts'
import { recordChange } from '../records/trail.ts'
import { invalid } from '../errors.ts'
import { Nullable, Uuid } from '../http/schemas.ts'
import type { KeyOfPerson, Maker } from '../access/made-by.ts'

/** What becomes of the keys of somebody who leaves. */
export const decision = {
  keys: Type.Unsafe<'revoke' | 'hand_over'>({
    type: 'string',
    enum: ['revoke', 'hand_over'],
    description: 'What becomes of the API keys of the person: revoke ends them, hand_over makes them those of keys_to'
  }),
  keys_to: Uuid('Who answers for the keys from now on: an active member of their shop, or an admin')
}

/** The same, where nothing may be decided. */
export const OptionalDecision = Type.Object({
  keys: Type.Optional(decision.keys),
  keys_to: Type.Optional(decision.keys_to)
}, { additionalProperties: false })

export type Decision = Static<typeof OptionalDecision>

const TIME = { type: 'string', format: 'date-time' } as const

/** An API key of a person. */
export const PersonKey = Type.Object({
  id: Uuid(),
  shop_id: Uuid(),
  shop_name: Type.String(),
  name: Type.String(),
  prefix: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
  last_used_at: Nullable(Type.Unsafe<string>({ ...TIME, description: 'null until the first use' })),
  expires_at: Nullable(Type.Unsafe<string>({ ...TIME, description: 'null: never' }))
})

/** The API keys of a person: not a list with pages, since an owner has a bounded number of them. */
export const PersonKeys = Type.Object({ keys: Type.Array(PersonKey) })

/**
 * Does with keys what was decided, and records it with each key. Without a decision nothing is done: dual-auth refuses
 * the keys of whoever has left.
 *
 * @param keys - locked, and all of `person`
 * @throws {@link SHOP_INVALID} about `keys_to`
 */
export async function decideKeys (
  trx: Knex.Transaction,
  actor: Actor,
  person: Maker,
  keys: readonly KeyOfPerson[],
  decision: Decision
): Promise<void> {
  const heir = await checkDecision(trx, person, keys, decision)
  const ids = keys.map(({ id }) => id)
  if (decision.keys === 'revoke') {
    const revoked = await trx('api_keys').whereIn('id', ids).whereNull('revoked_at').update({
      revoked_at: trx.fn.now(),
      revoked_by: await nameOf(trx, actor)
    }).returning(['id', 'shop_id', 'name', 'revoked_at'])
    for (const key of revoked) await record(trx, actor, key, ['revoked_at', null, key.revoked_at])
  }
  if (heir === undefined) return
  await trx('api_keys').whereIn('id', ids).update({ created_by: heir.subject })
  // By their ids: subjects are erased with a person.
  for (const key of keys) await record(trx, actor, key, ['created_by', person.id, heir.id])
}

/**
 * Checks what {@link decideKeys} would do.
 *
 * @returns who takes the keys over; undefined if nobody does
 * @throws {@link SHOP_INVALID} about `keys_to`
 */
export async function checkDecision (
  knex: Knex,
  person: Maker,
  keys: readonly KeyOfPerson[],
  { keys: what, keys_to: to }: Decision
): Promise<Maker | undefined> {
  if (what === 'hand_over') return await heirOf(knex, person, keys, to)
  if (to === undefined) return undefined
  throw invalid('keys_to', 'keys_to is only for keys that are handed over: with keys=hand_over')
}

async function record (
  trx: Knex.Transaction,
  actor: Actor,
  { id, shop_id: shopId, name }: Pick<KeyOfPerson, 'id' | 'shop_id' | 'name'>,
  [field, before, after]: readonly [field: string, before: unknown, after: unknown]
): Promise<void> {
  await recordChange(trx, actor, {
    shopId,
    recordKind: 'api_key',
    recordId: id,
    recordName: name,
    before: { [field]: before },
    after: { [field]: after }
  })
}

/** As keys name who changed them. */
async function nameOf (trx: Knex.Transaction, { kind, id }: Actor): Promise<string> {
  if (kind === 'command') return id === null ? 'command' : `command:${id}`
  const user = kind === 'user' ? await trx('users').where({ id }).first('subject') : undefined
  return user?.subject ?? String(id)
}

/** Who takes keys over. They are not deleted before the transaction ends; whoever leaves meanwhile has left. */
async function heirOf (
  knex: Knex,
  person: Maker,
  keys: readonly KeyOfPerson[],
  id: string | undefined
): Promise<Maker> {
  if (id === undefined) throw invalid('keys_to', 'keys_to must say who takes the keys over')
  const heir = await knex('users').where({ id }).forKeyShare().first('id', 'subject', 'active', 'roles')
  if (heir?.active !== true || heir.id === person.id) {
    throw invalid('keys_to', 'keys_to must be another person, who is active')
  }
  if (heir.roles.includes('admin')) return heir
  const shops = [...new Set(keys.map(({ shop_id: shop }) => shop))]
  const entered = await knex('shop_members').where({ user_id: id }).whereIn('shop_id', shops).select('shop_id')
  const missing = keys.find(({ shop_id: shop }) => !entered.some((row) => row.shop_id === shop))
  if (missing !== undefined) {
    throw invalid('keys_to', `keys_to must be a member of ${missing.shop_name}, or an admin`)
  }
  return heir
}
