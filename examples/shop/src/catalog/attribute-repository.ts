import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { recordRepository } from '../records/repository.ts'
import type { ShopScope } from '../access/scope.ts'
import { slugFromName } from '../records/slug.ts'
import { Attribute, type AttributeChanges, type AttributeInput, list } from './attribute-schemas.ts'
import { refuseLoss, requireOptions } from './attribute-values.ts'

type AttributeRow = Static<typeof Attribute>

/** What products can be described with. */
export function attributeRepository (knex: Knex) {
  const rows = recordRepository(knex, {
    table: 'attributes',
    noun: 'attribute',
    ...list,
    record: Attribute,
    dependents: [{ table: 'products', link: 'product_attributes', from: 'product_id', to: 'attribute_id', lost: 'row' }]
  })

  return {
    ...rows,

    /** @throws {@link SHOP_CONFLICT} | {@link SHOP_INVALID} */
    async create (shop: ShopScope, input: Static<typeof AttributeInput>, on: Knex = knex): Promise<AttributeRow> {
      requireOptions(input.type, input.options ?? [])
      return await rows.insert(shop, { ...input, code: input.code ?? slugFromName(input.name, 'code', '_') }, on)
    },

    /** @throws {@link SHOP_NOT_FOUND} | {@link SHOP_CONFLICT} | {@link SHOP_INVALID} */
    async update (
      shop: ShopScope,
      id: string,
      changes: Static<typeof AttributeChanges>,
      on: Knex = knex
    ): Promise<AttributeRow> {
      return await on.transaction(async (trx) => {
        const attribute = await rows.update(shop, id, changes, trx)
        requireOptions(attribute.type, attribute.options)
        await refuseLoss(trx, shop, attribute)
        return attribute
      })
    }
  }
}
