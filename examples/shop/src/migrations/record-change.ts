/**
 * The function that writes an entry of the history, without the `create` before it. Later migrations add columns.
 *
 * @param added - SQL of further columns, by their names, over the JSON `actor`
 * @param name - SQL of the name of an actor that is no API key
 */
export function recordChange (added: Readonly<Record<string, string>> = {}, name = "actor->>'name'"): string {
  const [names, values] = [Object.keys(added), Object.values(added)].map((parts) => parts.map((part) => `, ${part}`).join(''))
  return `function record_change(
      actor jsonb, shop uuid, kind text, record_key text, label text, earlier jsonb, later jsonb, kept jsonb, even_if_equal boolean
    ) returns uuid language plpgsql as $$
    declare
      difference jsonb;
      entry uuid;
    begin
      select coalesce(jsonb_object_agg(name, jsonb_build_object('before', was, 'after', became)), '{}') into difference from (
        select coalesce(e.key, l.key) as name, coalesce(e.value, 'null') as was, coalesce(l.value, 'null') as became
        from jsonb_each(earlier) e full join jsonb_each(later) l on e.key = l.key
      ) fields where was <> became;
      if difference = '{}' and earlier is not null and later is not null and not even_if_equal then return null; end if;
      insert into history (
        shop_id, actor_kind, actor_id, actor_name, actor_prefix, operation, tool, action, record_kind, record_id, record_name,
        changes, affected, restore, request_id, reverts${names}
      )
      select shop, actor->>'kind', actor->>'id', coalesce(${name}, api_keys.name), api_keys.prefix, actor->>'operation', actor->>'tool',
        case when earlier is null then 'create' when later is null then 'delete' else 'update' end,
        kind, record_key, coalesce(label, later->>'name', earlier->>'name'), difference,
        coalesce((
          select jsonb_object_agg(key, jsonb_array_length(value)) from jsonb_each(kept->'links') where jsonb_array_length(value) > 0
        ), '{}'),
        kept, actor->>'request_id', (actor->>'reverts')::uuid${values}
      from (values (1)) entry left join api_keys on api_keys.id = case actor->>'kind' when 'api-key' then (actor->>'id')::uuid end
      returning id into entry;
      return entry;
    end $$`
}
