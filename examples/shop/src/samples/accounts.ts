import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { customerWith, type PayStandIn, startPayStandIn } from 'pay-reconcile/testing'
import { idOf } from './id.ts'

/**
 * How an account stands with the payment provider: `changed` has a snapshot that is out of date,
 * `twin` the customer of the first account; `findable` and `suggested` have a customer that nobody
 * linked, the one with the account's id and the other with its e-mail address.
 */
type PayState = 'synced' | 'changed' | 'linked' | 'missing' | 'findable' | 'suggested' | 'deleted' | 'unknown' | 'twin'

const STATES: readonly PayState[] = [
  'synced',
  'synced',
  'changed',
  'linked',
  'linked',
  'missing',
  'missing',
  'findable',
  'suggested',
  'deleted',
  'unknown',
  'twin'
]

/** As many as there are states, for each shop by its slug. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'copper-kettle': [
    'Alma Brandt',
    'Bruno Castell',
    'Chiara Donati',
    'Dario Engel',
    'Elsa Fontaine',
    'Farid Ghani',
    'Greta Holm',
    'Hugo Iversen',
    'Ines Jansen',
    'Jonas Keller',
    'Katya Lund',
    'Alma Brandt (office)'
  ],
  'north-trail': [
    'Liam Moreau',
    'Mara Nilsen',
    'Nils Ortega',
    'Olga Petrov',
    'Pau Queralt',
    'Quentin Roy',
    'Rosa Santos',
    'Sven Thorsen',
    'Tilda Ueda',
    'Umar Vahid',
    'Vera Walsh',
    'Liam Moreau (club)'
  ],
  'paper-lantern': [
    'Wim Xander',
    'Xenia Young',
    'Yara Zeman',
    'Zeno Abbas',
    'Aiko Baker',
    'Bela Cohen',
    'Carla Dunn',
    'Dev Eriksen',
    'Edda Farkas',
    'Finn Garcia',
    'Gaia Hansen',
    'Wim Xander (school)'
  ]
}

/** The time of the demo's events. */
const CREATED = Date.UTC(2026, 0, 12) / 1000
const SYNCED = '2026-02-02T08:00:00.000Z'

interface DemoAccountRow {
  readonly id: string
  readonly shop_id: string
  readonly name: string
  readonly hash_name: string
  readonly details: string
}

/** What the customer of an account is made of. */
interface DemoCustomer {
  /** Of the account. */
  readonly id: string
  readonly name: string
  readonly email: string | null
  readonly customerId: string
  /** Seconds since the epoch. */
  readonly created?: number
}

/** @returns the accounts of a shop, in every state */
export function accountsOf (slug: string): readonly DemoAccountRow[] {
  return people(slug).map(({ id, name, email, state, customerId }) => ({
    id,
    shop_id: idOf(slug),
    name,
    hash_name: createHash('sha256').update(email).digest('hex').slice(0, 12),
    details: JSON.stringify({ email, ...payDetails(state, customerOf({ id, name, email, customerId })) })
  }))
}

/** @returns the customers that the payment provider has for a shop at startup */
export function customersOf (slug: string): ReadonlyArray<{ readonly id: string, readonly [field: string]: unknown }> {
  return people(slug).filter(({ state }) => !['missing', 'unknown', 'twin'].includes(state)).map(
    ({ state, ...person }) => {
      const customer = customerOf(person)
      if (state === 'deleted') return { id: customer.id, deleted: true }
      return state === 'suggested' ? { ...customer, metadata: {} } : customer
    }
  )
}

function people (slug: string) {
  return STATES.map((state, index) => {
    const name = NAMES[slug]![index]!
    const [first, last] = NAMES[slug]![state === 'twin' ? 0 : index]!.toLowerCase().split(' ')
    const id = idOf(slug, 'account', name)
    const owner = state === 'twin' ? idOf(slug, 'account', NAMES[slug]![0]!) : id
    return {
      id,
      name,
      state,
      email: `${first}.${last}@example.com`,
      customerId: `cus_demo${owner.replaceAll('-', '').slice(0, 16)}`
    }
  })
}

/** A customer with every field that the stand-in has, so that a snapshot of it is up to date. */
export function customerOf ({ id, name, email, customerId, created = CREATED }: DemoCustomer) {
  return customerWith({ id: customerId, created, email, metadata: { account_id: id }, name })
}

function payDetails (state: PayState, customer: ReturnType<typeof customerOf>): object {
  if (['missing', 'findable', 'suggested'].includes(state)) return {}
  const link = { pay_customer_id: customer.id }
  if (!['synced', 'changed', 'deleted'].includes(state)) return link
  const snapshot = state === 'changed' ? { ...customer, email: `old.${customer.email}` } : customer
  return { ...link, pay_customer: snapshot, pay_synced_at: SYNCED }
}

/**
 * Starts the demo's payment provider, with the demo's customers for the key of each shop.
 *
 * @param port - on loopback
 * @param payKeys - by the slug of their shop
 */
export async function startDemoPay (port: number, payKeys: Readonly<Record<string, string>>): Promise<PayStandIn> {
  const accounts = Object.entries(payKeys).map(([slug, key]) => [key, { customers: customersOf(slug) }] as const)
  return await startPayStandIn({ port, accounts: Object.fromEntries(accounts), log: () => {} })
}

/** Restores the customers that checkouts created before the last stop, since the stand-in stores nothing. */
export async function restoreCustomers (
  knex: Knex,
  standIn: PayStandIn,
  payKeys: Readonly<Record<string, string>>
): Promise<void> {
  const created = await knex('pay_reconcile_audit as c').where({ action: 'create' })
    .joinRaw('join accounts as a on a.id::text = c.account_id').join('shops as s', 's.id', 'a.shop_id').whereIn(
      's.slug',
      Object.keys(payKeys)
    )
    .select(
      's.slug',
      'a.id',
      'a.name',
      knex.raw("a.details->>'email' as email"),
      knex.raw("c.after->>'pay_customer_id' as customer_id"),
      'c.at'
    )
  for (const { slug, id, name, email, customer_id: customerId, at } of created) {
    const customer = customerOf({ id, name, email, customerId, created: Math.floor(Date.parse(at) / 1000) })
    standIn.account(payKeys[slug]!).customers.set(customerId, customer)
  }
}
