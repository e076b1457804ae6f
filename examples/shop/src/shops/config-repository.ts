import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import type { Caller } from '../access/caller.ts'
import { fieldsOf, recordChange } from '../records/trail.ts'
import { updatedAt } from '../database/updated-at.ts'
import { invalid, notFound } from '../errors.ts'
import { refuseLargeMetadata, refuseUnknownCurrency } from '../http/values.ts'
import type { Precondition } from '../http/if-match.ts'
import type { ShopConfig, ShopConfigChanges } from './config-schemas.ts'
import type { ShopScope } from '../access/scope.ts'
import { shopsThere } from '../access/shops-there.ts'

type Config = Static<typeof ShopConfig>
type Changes = Static<typeof ShopConfigChanges>

/** Defaults; only what a shop has set is stored. */
const DEFAULTS = {
  locale: 'en',
  time_zone: 'UTC',
  contact_email: null,
  prices_include_tax: true,
  confirm_agent_calls: true,
  metadata: {}
}

const COLUMNS = ['id', 'currency', 'settings', 'updated_at'] as const

/** The settings of shops. */
export function configRepository (knex: Knex) {
  return {
    async get (shop: ShopScope): Promise<Config> {
      return configFromRow(await shopsThere(knex).where({ id: shop.id }).first(COLUMNS), shop)
    },

    /** @returns the settings, whose row `trx` has locked */
    async hold (shop: ShopScope, trx: Knex.Transaction): Promise<Config> {
      return configFromRow(await shopsThere(trx).where({ id: shop.id }).forNoKeyUpdate().first(COLUMNS), shop)
    },

    /**
     * Merges settings under a lock, so that concurrent writers of other settings lose nothing.
     *
     * @throws {@link SHOP_INVALID} | {@link SHOP_PRECONDITION_FAILED}
     */
    async update (
      shop: ShopScope,
      caller: Caller,
      changes: Changes,
      { on = knex, precondition }: { readonly on?: Knex, readonly precondition?: Precondition | undefined } = {}
    ): Promise<Config> {
      const { currency, ...settings } = changes
      refuseUnknownCurrency({ currency })
      const stored = JSON.stringify(checked(settings))
      return await on.transaction(async (trx) => {
        const before = configFromRow(await shopsThere(trx).where({ id: shop.id }).forNoKeyUpdate().first(COLUMNS), shop)
        precondition?.(before)
        const [row] = await trx('shops').where({ id: shop.id }).update({
          ...(currency !== undefined && { currency }),
          settings: trx.raw('settings || ?::jsonb', [stored]),
          updated_at: updatedAt(trx, changes)
        }).returning(COLUMNS)
        const after = configFromRow(row, shop)
        const names = Object.keys(changes)
        if (names.length > 0) {
          await recordChange(trx, caller, {
            shopId: shop.id,
            recordKind: 'shop_config',
            recordId: shop.id,
            before: fieldsOf(before, names),
            after: fieldsOf(after, names)
          })
        }
        return after
      })
    }
  }
}

interface ConfigRow {
  readonly id: string
  readonly currency: string
  readonly settings: Partial<Config>
  readonly updated_at: string
}

function configFromRow (row: ConfigRow | undefined, shop: ShopScope): Config {
  if (row === undefined) throw notFound('shop', shop.id)
  const { id, currency, settings, updated_at: at } = row
  return { ...DEFAULTS, ...settings, shop_id: id, currency, updated_at: at }
}

/** @throws {@link SHOP_INVALID} about what a schema cannot check */
function checked (settings: Omit<Changes, 'currency'>): object {
  const { locale, time_zone: timeZone } = settings
  if (locale !== undefined) {
    accept('locale', 'a language tag such as en or pt-BR', () => Intl.getCanonicalLocales(locale))
  }
  if (timeZone !== undefined) {
    accept('time_zone', 'a time zone such as Europe/Lisbon', () => new Intl.DateTimeFormat('en', { timeZone }))
  }
  refuseLargeMetadata(settings)
  return settings
}

function accept (field: string, what: string, parse: () => unknown): void {
  try {
    parse()
  } catch {
    throw invalid(field, `${field} must be ${what}`)
  }
}
