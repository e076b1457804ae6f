import type { Knex } from 'knex'
import { conflict, invalid } from '../errors.ts'
import { excerpt } from '#shared/excerpt'
import { cleanLine } from '../http/text.ts'
import type { ShopScope } from '../access/scope.ts'

export const ATTRIBUTE_TYPES = ['text', 'number', 'boolean', 'select'] as const

/** The rule for values of an attribute. */
export interface AttributeRule {
  readonly id: string
  readonly type: typeof ATTRIBUTE_TYPES[number]
  readonly options: readonly string[]
}

export type AttributeValue = string | number | boolean

/** @returns why the value does not fit the attribute, or undefined if it does */
export function misfit ({ type, options }: AttributeRule, value: AttributeValue): string | undefined {
  switch (type) {
    case 'text':
      return typeof value === 'string' ? undefined : 'must be a string'
    case 'number':
      return typeof value === 'number' ? undefined : 'must be a number'
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be a boolean'
    case 'select':
      return isOption(options, value) ? undefined : `must be one of ${options.join(', ')}`
  }
}

/** Options and values that were stored before may have blanks that nobody sees; values keep those within them. */
function isOption (options: readonly string[], value: AttributeValue): boolean {
  if (typeof value !== 'string') return false
  if (options.includes(value)) return true
  const clean = cleanLine(value)
  return options.some((option) => cleanLine(option) === clean)
}

/**
 * Type select requires options; other types have none.
 *
 * @throws {@link SHOP_INVALID} about `options`
 */
export function requireOptions (type: AttributeRule['type'], options: readonly string[]): void {
  if (type === 'select' && options.length === 0) throw invalid('options', 'options is required for type select')
  if (type !== 'select' && options.length > 0) throw invalid('options', `options must be empty for type ${type}`)
}

/**
 * Checks that all values of products still fit the changed attribute. `trx` must have locked the row of the attribute,
 * so that writers of values wait.
 *
 * @throws {@link SHOP_CONFLICT} about `type` or `options`
 */
export async function refuseLoss (trx: Knex.Transaction, shop: ShopScope, attribute: AttributeRule): Promise<void> {
  const used = await trx('product_attributes').where({ shop_id: shop.id, attribute_id: attribute.id }).distinct('value')
  const lost = used.find(({ value }) => misfit(attribute, value) !== undefined)
  if (lost === undefined) return
  const field = attribute.type === 'select' ? 'options' : 'type'
  throw conflict(
    field,
    `${field} cannot be changed like this: a product has the value ${excerpt(JSON.stringify(lost.value))}`
  )
}
