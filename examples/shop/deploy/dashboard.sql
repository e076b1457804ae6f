-- What the dashboard reads in the database: who is behind what the metrics show. Run it as the owner of the tables, after
-- the first migration and after each upgrade: psql "$DATABASE_URL" -f deploy/dashboard.sql
-- Functions, so that Grafana's user needs no right on any table, and no migration meets a view that stands in its way.
-- They return names of shops and keys, and ids of callers: no record, no name of a person, no secret.

create schema if not exists dashboard;

create or replace function dashboard.slow_keys (after timestamptz, before timestamptz)
returns table (
  shop text, key_name text, key_prefix text, key_id uuid, tool text, first_hour timestamptz, last_hour timestamptz,
  calls bigint, errors bigint, mean_ms bigint, slowest_ms integer
)
language sql stable security definer set search_path = public, pg_temp as $$
  select shops.slug, api_keys.name, api_keys.prefix, api_keys.id, k.tool, min(k.hour), max(k.hour),
    sum(k.calls), sum(k.errors), sum(k.total_ms)::bigint / sum(k.calls), max(k.slowest_ms)
  from key_calls k join api_keys on api_keys.id = k.key_id join shops on shops.id = k.shop_id
  where k.hour >= date_trunc('hour', after) and k.hour <= before and k.calls > 0
  group by shops.slug, api_keys.id, k.tool
  order by sum(k.total_ms) / sum(k.calls) desc limit 50
$$;

create or replace function dashboard.refused_keys (after timestamptz, before timestamptz)
returns table (
  shop text, key_name text, key_prefix text, key_id text, reason text, first_at timestamptz, last_at timestamptz,
  refusals bigint, networks text
)
language sql stable security definer set search_path = public, pg_temp as $$
  select shops.slug, max(h.record_name), max(h.actor_prefix), h.record_id, h.changes #>> '{reason,after}',
    min(h.at), max(h.at), sum((h.changes #>> '{count,after}')::bigint),
    string_agg(distinct h.changes #>> '{network,after}', ', ')
  from history h left join shops on shops.id = h.shop_id
  where h.operation = 'api_key.refused' and h.at >= after and h.at <= before
  group by shops.slug, h.record_id, h.changes #>> '{reason,after}'
  order by max(h.at) desc limit 50
$$;

-- The imports of a shop are applied one after another: the others wait for the one whose turn it is.
create or replace function dashboard.imports_under_way ()
returns table (
  shop text, import_id uuid, caller text, caller_id text, status text, is_first boolean, processed integer, total integer,
  created_at timestamptz, last_step_at timestamptz, waits interval
)
language sql stable security definer set search_path = public, pg_temp as $$
  select shops.slug, i.id, i.actor ->> 'kind', i.actor ->> 'id', i.status,
    row_number() over (partition by i.shop_id order by i.created_at, i.id) = 1, i.processed, i.total,
    i.created_at, i.updated_at, date_trunc('second', clock_timestamp() - i.updated_at)
  from imports i join shops on shops.id = i.shop_id
  where i.status in ('pending', 'running')
  order by i.updated_at limit 50
$$;

revoke all on all functions in schema dashboard from public;
