import { excerpt } from '#shared/excerpt'
import type { Table } from '#shared/option-table'
import { PAY_RECONCILE_NAMESPACE_REQUIRED } from '../errors.ts'
import type { PayCustomer } from '../provider/types.ts'

/** The values of a customer's metadata that name its account. */
export type NamingMetadata = Readonly<Record<string, string>>

/** Options that say how a customer's metadata name its account. */
export interface NamingOptions {
  /**
   * What tells the ids of these accounts from the ids of every other app, environment and table under the same account
   * at the provider, such as `acme-production-users`: letters, digits, `_`, `-` and `.`. New customers carry it in
   * `metadata.account_namespace`; one with another is never taken, and one without is only suggested. Required unless
   * the ids are UUIDs. Default: none.
   */
  readonly namespace?: string | undefined
  /**
   * The key of the metadata that has the account's id, for customers that exist already: `userId`. Default
   * `account_id`.
   */
  readonly metadataKey?: string | undefined
}

/** How the metadata of a customer name its account. */
export interface Naming {
  readonly namespace: string | undefined
  readonly metadataKey: string
  /** What the customer of an account carries. @throws {@link PAY_RECONCILE_NAMESPACE_REQUIRED} */
  metadataFor(accountId: string): NamingMetadata
  /** The same as it is without a namespace: too little for a proof. */
  withoutNamespace(accountId: string): NamingMetadata
  /** The account that the customer belongs to; undefined: it names none, or one of another namespace or of none. */
  accountIdOf(customer: PayCustomer): string | undefined
  /** The same, but also of a customer without a namespace: for a person to decide. */
  perhapsIdOf(customer: PayCustomer): string | undefined
  /** Whether the customer names another account, or is of another namespace. */
  namesAnother(customer: PayCustomer, accountId: string): boolean
  /** What the customer's metadata say, for a person to decide by: at most ten values. */
  shown(customer: PayCustomer): NamingMetadata
  /** The key under which a customer of the account is created. @param number - from 1 */
  idempotencyKey(accountId: string, number: number): string
}

export const NAMESPACE_KEY = 'account_namespace'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** How many values of metadata are shown. */
const SHOWN = 10

/** As they are given, with their defaults. */
interface GivenNaming {
  readonly namespace: string | undefined
  readonly metadataKey: string
}

/** @internal */
export const NAMING: Table<GivenNaming> = {
  namespace: {
    holds: (name) => typeof name === 'string' && /^[\w.-]{1,60}$/.test(name),
    rule: 'must have 1 to 60 letters, digits, _, - and .'
  },
  metadataKey: {
    // Of the provider's limits: 40 characters, no brackets.
    holds: (key) => typeof key === 'string' && /^[\w.-]{1,40}$/.test(key) && key !== NAMESPACE_KEY,
    rule: `must have 1 to 40 letters, digits, _, - and ., and not be ${NAMESPACE_KEY}`,
    default: 'account_id'
  }
}

export function namingFrom ({ namespace, metadataKey: key }: GivenNaming): Naming {
  const valueIn = ({ metadata }: PayCustomer, name: string): string | undefined => {
    const strings = stringsIn(metadata)
    return Object.hasOwn(strings, name) && strings[name] !== '' ? strings[name] : undefined
  }

  return {
    namespace,
    metadataKey: key,

    metadataFor (accountId) {
      if (namespace !== undefined) return { [key]: accountId, [NAMESPACE_KEY]: namespace }
      if (!UUID.test(accountId)) throw new PAY_RECONCILE_NAMESPACE_REQUIRED(accountId)
      return { [key]: accountId }
    },

    withoutNamespace: (accountId) => ({ [key]: accountId }),

    accountIdOf: (customer) => valueIn(customer, NAMESPACE_KEY) === namespace ? valueIn(customer, key) : undefined,

    perhapsIdOf (customer) {
      const other = valueIn(customer, NAMESPACE_KEY)
      return other === undefined || other === namespace ? valueIn(customer, key) : undefined
    },

    namesAnother (customer, accountId) {
      const [other, id] = [valueIn(customer, NAMESPACE_KEY), valueIn(customer, key)]
      return (other !== undefined && other !== namespace) || (id !== undefined && id !== accountId)
    },

    shown ({ metadata }) {
      const strings = stringsIn(metadata)
      const names = [key, NAMESPACE_KEY].filter((name) => Object.hasOwn(strings, name))
      const others = Object.keys(strings).filter((name) => !names.includes(name))
      return Object.fromEntries(
        [...names, ...others].slice(0, SHOWN).map((name) => [excerpt(name), excerpt(strings[name] ?? '')])
      )
    },

    idempotencyKey (accountId, number) {
      // Encoded, because ids of the host may contain characters that a header cannot hold, and a slash.
      const id = encodeURIComponent(accountId)
      const first = namespace === undefined ? `account:${id}` : `account:${namespace}/${id}`
      return number === 1 ? first : `${first}:${number}`
    }
  }
}

function stringsIn (metadata: unknown): NamingMetadata {
  if (typeof metadata !== 'object' || metadata === null) return {}
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => typeof value === 'string'))
}
