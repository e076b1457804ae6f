import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/*
 * The pictures of products. Existing products have none, which takes no time: the table is not written anew. So `bytes` stays
 * as it is computed, and pictures count as parts of a product, as its links do (migration 009).
 */

/** How many bytes URLs have as JSON, at most; an empty list is in what every product has. */
const sizeOf = (urls: string): string => `coalesce(octet_length(nullif(${urls}, '[]')::text), 0)`

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    alter table products add image_urls jsonb not null default '[]';
    create function count_image_urls() returns trigger language plpgsql as $$
    begin
      new.part_bytes := new.part_bytes + ${sizeOf('new.image_urls')} - case tg_op when 'INSERT' then 0 else ${sizeOf('old.image_urls')} end;
      return new;
    end $$;
    create trigger count_new_image_urls before insert on products for each row
      when (new.image_urls <> '[]') execute function count_image_urls();
    create trigger count_image_urls before update of image_urls on products for each row
      when (new.image_urls <> old.image_urls) execute function count_image_urls();
  `)
}

async function down (knex: Knex): Promise<void> {
  await knex.raw(`
    drop trigger count_new_image_urls on products;
    drop trigger count_image_urls on products;
    drop function count_image_urls();
    update products set part_bytes = part_bytes - ${sizeOf('image_urls')} where image_urls <> '[]';
    alter table products drop image_urls
  `)
}

export const imageUrls: Migration = { up, down }
