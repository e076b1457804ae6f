import type { Knex } from 'knex'

/**
 * What tells one state of a shop's history from the others: its newest entry, and how many come with it in an hour. One
 * that was written in a longer transaction, and so appears below the newest, changes that number. Old entries that the
 * server forgets do not.
 *
 * @param isOwner - since owners see more than staff
 */
export async function historyVersion (knex: Knex, shopId: string, isOwner: boolean): Promise<string> {
  const newest = knex('history').where({ shop_id: shopId }).max('at as at')
  const { rows: [{ version }] } = await knex.raw(`
    select concat_ws('-', max(seq), count(*)) as version from history where shop_id = ? and at > (select at from (?) newest) - interval '1 hour'
  `, [shopId, newest] as never)
  return isOwner ? `${version}-all` : version
}
