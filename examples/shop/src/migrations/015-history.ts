import type { Knex } from 'knex'
import type { Migration } from './migration.ts'
import { recordChange } from './record-change.ts'

/*
 * The audit trail becomes the history of everything that is written. The function `record_change` writes an entry within
 * the statement of its change, so that an entry costs no round trip. `seq` is the order of the changes of a record, since
 * its writers hold a lock on it; `at` can be equal.
 *
 * The view `audit` is for servers of the version before, while they still run.
 */

const ADDED = {
  seq: 'bigint generated always as identity',
  actor_name: 'text',
  actor_prefix: 'text',
  tool: 'text',
  record_name: 'text',
  affected: "jsonb not null default '{}'",
  restore: 'jsonb',
  reverts: 'uuid'
}

/** The size of an entry as JSON: the parts that vary, and an upper bound for all others. */
const BYTES = '900 + json_bytes(record_name) + json_bytes(actor_name) + octet_length(changes::text)'

async function up (knex: Knex): Promise<void> {
  await knex.raw(`
    drop trigger audit_append_only on audit;
    drop function audit_append_only();
    alter table audit rename to history;
    alter table history ${Object.entries(ADDED).map(([name, type]) => `add ${name} ${type}`).join(', ')};
    update history set actor_name = users.name from users where actor_kind = 'user' and users.id::text = actor_id;
    update history set actor_name = api_keys.name, actor_prefix = api_keys.prefix from api_keys where actor_kind = 'api-key' and api_keys.id::text = actor_id;
    update history set record_name = api_keys.name from api_keys where record_kind = 'api_key' and api_keys.id::text = record_id;
    alter table history add bytes integer generated always as (${BYTES}) stored;
    create index history_record on history (shop_id, record_id, seq);
    create index history_reverts on history (reverts) where reverts is not null;

    create function history_append_only() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' and current_setting('history.prune', true) = 'on' then return null; end if;
      raise exception 'history is append-only';
    end $$;
    create trigger history_append_only before update or delete or truncate on history
      for each statement execute function history_append_only();

    create ${recordChange()};

    -- A revert can be reverted, and then its change stands again.
    create function is_reverted(change uuid) returns boolean language plpgsql stable as $$
    begin
      return exists (select from history where reverts = change and not is_reverted(id));
    end $$;

    -- As records write instants.
    create function json_instant(value timestamptz) returns text language sql stable as $$
      select to_char(value at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    $$;

    create view audit as select ${AUDIT.join(', ')} from history;
  `)
}

const AUDIT = ['id', 'at', 'shop_id', 'actor_kind', 'actor_id', 'operation', 'action', 'record_kind', 'record_id', 'changes', 'request_id']

/** What the audit trail did not have. */
const RECORDS = ['product', 'category', 'tag', 'attribute', 'price', 'account', 'order']

async function down (knex: Knex): Promise<void> {
  await knex.raw(`
    drop view audit;
    drop function json_instant(timestamptz), is_reverted(uuid), record_change(jsonb, uuid, text, text, text, jsonb, jsonb, jsonb, boolean);
    drop trigger history_append_only on history;
    drop function history_append_only();
    delete from history where record_kind in (${RECORDS.map((kind) => `'${kind}'`).join(', ')});
    drop index history_record, history_reverts;
    alter table history drop bytes, ${Object.keys(ADDED).map((name) => `drop ${name}`).join(', ')};
    alter table history rename to audit;
    create function audit_append_only() returns trigger language plpgsql as
      $$ begin raise exception 'audit is append-only'; end $$;
    create trigger audit_append_only before update or delete or truncate on audit
      for each statement execute function audit_append_only();
  `)
}

export const history: Migration = { up, down }
