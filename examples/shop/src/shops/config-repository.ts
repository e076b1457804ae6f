import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { refuseUnknownCurrency } from '../currency.ts'
import { invalid, notFound } from '../errors.ts'
import { metadataText } from '../metadata.ts'
import { updatedAt } from '../repository.ts'
import type { ShopConfig, ShopConfigChanges } from './config.ts'
import type { ShopScope } from './scope.ts'

type Config = Static<typeof ShopConfig>
type Changes = Static<typeof ShopConfigChanges>

/** What holds until a shop says otherwise; only what it said is stored. */
const defaults = { locale: 'en', time_zone: 'UTC', contact_email: null, prices_include_tax: true, metadata: {} }

const COLUMNS = ['id', 'currency', 'settings', 'updated_at'] as const

/** The settings of shops. */
export function configRepository (knex: Knex) {
  return {
    async get (shop: ShopScope): Promise<Config> {
      return configFromRow(await knex('shops').where({ id: shop.id }).first(COLUMNS), shop)
    },

    /**
     * Changes settings where they are, in one statement: whoever writes others at the same time loses nothing.
     *
     * @throws {@link SHOP_INVALID}
     */
    async update (shop: ShopScope, changes: Changes): Promise<Config> {
      const { currency, ...settings } = changes
      refuseUnknownCurrency({ currency })
      const [row] = await knex('shops').where({ id: shop.id }).update({
        ...(currency !== undefined && { currency }),
        settings: knex.raw('settings || ?::jsonb', [JSON.stringify(checked(settings))]),
        updated_at: updatedAt(knex, changes)
      }).returning(COLUMNS)
      return configFromRow(row, shop)
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
  return { ...defaults, ...settings, shop_id: id, currency, updated_at: at }
}

/** @throws {@link SHOP_INVALID} about what a schema cannot tell */
function checked (settings: Omit<Changes, 'currency'>): object {
  const { locale, time_zone: timeZone, metadata } = settings
  if (locale !== undefined) accept('locale', 'a language tag such as en or pt-BR', () => Intl.getCanonicalLocales(locale))
  if (timeZone !== undefined) accept('time_zone', 'a time zone such as Europe/Lisbon', () => new Intl.DateTimeFormat('en', { timeZone }))
  if (metadata !== undefined) metadataText(metadata)
  return settings
}

function accept (field: string, what: string, parse: () => unknown): void {
  try {
    parse()
  } catch {
    throw invalid(field, `${field} must be ${what}`)
  }
}
