import { subjectOf } from 'identity-provider'
import type { Knex } from 'knex'
import { provisionUser } from '../users/repository.ts'

/** Who can sign in to the demo, and where they work. */
export interface DemoPerson {
  readonly username: string
  readonly name: string
  readonly roles: readonly string[]
  /** Their role in the shops that they are a member of, by slug. */
  readonly shops: Readonly<Record<string, 'owner' | 'staff'>>
}

export const DEMO_PEOPLE: readonly DemoPerson[] = [
  { username: 'ada', name: 'Ada Admin', roles: ['admin'], shops: {} },
  { username: 'kim', name: 'Kim Kettle', roles: [], shops: { 'copper-kettle': 'owner' } },
  { username: 'noor', name: 'Noor North', roles: [], shops: { 'north-trail': 'owner', 'paper-lantern': 'staff' } }
]

/** The subjects of the admins. */
export const demoAdmins = DEMO_PEOPLE.filter(({ roles }) => roles.includes('admin')).map(subjectOf)

/** Creates the demo's people and their memberships. */
export async function seedPeople (knex: Knex): Promise<void> {
  for (const person of DEMO_PEOPLE) {
    const user = await provisionUser(knex, subjectOf(person), person.username)
    const shops = await knex('shops').whereIn('slug', Object.keys(person.shops)).select('id', 'slug')
    if (shops.length === 0) continue
    await knex('shop_members').insert(
      shops.map(({ id, slug }) => ({ shop_id: id, user_id: user.id, role: person.shops[slug] }))
    ).onConflict().ignore()
  }
}
