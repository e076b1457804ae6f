import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { recordRepository } from '../records/repository.ts'
import type { ShopScope } from '../access/scope.ts'
import { slugFromName } from '../records/slug.ts'
import { list, Tag, type TagInput } from './tag-schemas.ts'

type TagRow = Static<typeof Tag>

/** Labels of products. */
export function tagRepository (knex: Knex) {
  const rows = recordRepository(knex, {
    table: 'tags',
    noun: 'tag',
    ...list,
    record: Tag,
    dependents: [{ table: 'products', link: 'product_tags', from: 'product_id', to: 'tag_id', lost: 'row' }]
  })

  return {
    ...rows,

    /** @throws {@link SHOP_CONFLICT} */
    async create (shop: ShopScope, input: Static<typeof TagInput>, on: Knex = knex): Promise<TagRow> {
      return await rows.insert(shop, { ...input, slug: input.slug ?? slugFromName(input.name) }, on)
    }
  }
}
