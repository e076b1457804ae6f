import type { Knex } from 'knex'
import type { Migration } from './migration.ts'

/*
 * What imports keep counts towards the bytes of their shop: the lines, until they are deleted with their import. An import
 * knows how many bytes they have: what the file says, and then what became of it.
 */

/** Of a line, beside what it says. */
const LINE_BYTES = 150

/** How many bytes the lines of the import `imports` have. */
export const IMPORT_BYTES = `(select coalesce(sum(${LINE_BYTES} + coalesce(octet_length(product::text), 0) + coalesce(octet_length(field), 0) + coalesce(octet_length(message), 0)), 0)
  from import_lines where import_id = imports.id)`

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    alter table imports add bytes bigint not null default 0;
    update imports set bytes = ${IMPORT_BYTES};
    insert into shop_usage (shop_id, kind, records, bytes) select shop_id, 'imports', 0, sum(bytes) from imports group by shop_id;

    create function count_import_bytes() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        perform use_quota(shop_id, 'imports', 0, -sum(bytes)::bigint) from removed group by shop_id having sum(bytes) <> 0;
      else
        perform use_quota(shop_id, 'imports', 0, sum(bytes)::bigint) from (
          select shop_id, bytes from added union all select shop_id, -bytes from removed
        ) changes group by shop_id having sum(bytes) <> 0;
      end if;
      return null;
    end $$;
    create trigger count_update after update on imports referencing old table as removed new table as added for each statement execute function count_import_bytes();
    create trigger count_delete after delete on imports referencing old table as removed for each statement execute function count_import_bytes();
  `)
}

async function down (knex: Knex): Promise<void> {
  await knex.raw(`
    drop trigger count_update on imports;
    drop trigger count_delete on imports;
    drop function count_import_bytes();
    delete from shop_usage where kind = 'imports';
    alter table imports drop bytes
  `)
}

export const importBytes: Migration = { up, down }
