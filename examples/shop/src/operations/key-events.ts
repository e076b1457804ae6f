import type { KeyEvent, OnKeyEvent } from 'dual-auth'
import type { FastifyBaseLogger } from 'fastify'
import type { Knex } from 'knex'
import { countKeyEvent, type Metrics, reasonOf } from './metrics.ts'

/** Those that `onKeyChange` records in the transaction of the change. */
const RECORDED: ReadonlySet<KeyEvent['type']> = new Set(['created', 'rotated', 'revoked'])

/** Events that somebody should look at. */
const REMARKABLE: ReadonlySet<KeyEvent['type']> = new Set(['refused', 'new_network', 'expiring', 'unused'])

/** For the option `onKeyEvent`: logs what happens to API keys, counts it, and keeps it in the history. */
export function keyEvents (knex: Knex, log: FastifyBaseLogger, metrics: Metrics | undefined): OnKeyEvent {
  return async (event) => {
    if (metrics !== undefined) countKeyEvent(metrics, event)
    const { type, key } = event
    const details = detailsOf(event)
    log[REMARKABLE.has(type) ? 'warn' : 'info']({
      event: `api_key.${type}`,
      keyId: key?.id,
      shopId: key?.ownerId,
      ...details
    }, `API key ${type.replace('_', ' ')}`)
    if (RECORDED.has(type)) return
    await knex('history').insert({
      shop_id: key?.ownerId ?? null,
      ...actorOf(knex, event),
      operation: `api_key.${type}`,
      action: 'event',
      record_kind: 'api_key',
      record_id: key?.id ?? 'unknown',
      ...(key !== null && { record_name: knex('api_keys').where({ id: key.id }).select('name') }),
      changes: JSON.stringify(
        Object.fromEntries(Object.entries(details).map(([name, value]) => [name, { before: null, after: value }]))
      )
    })
  }
}

function detailsOf (event: KeyEvent): Readonly<Record<string, unknown>> {
  switch (event.type) {
    case 'refused':
      return { reason: reasonOf(event), network: event.network, count: event.count }
    case 'new_network':
      return { network: event.network }
    case 'first_used':
      return { network: event.key.lastUsedNetwork }
    case 'expiring':
      return { days: event.days, expires_at: event.key.expiresAt }
    case 'unused':
      return { days: event.days, last_used_at: event.key.lastUsedAt }
    case 'rotated':
      return { replaces: event.replaced.id, by: event.by }
    default:
      return { by: event.by }
  }
}

function actorOf (knex: Knex, { type, key }: KeyEvent): object {
  if (type === 'expiring' || type === 'unused') return { actor_kind: 'server' }
  if (key === null) return { actor_kind: 'anybody' }
  const named = knex('api_keys').where({ id: key.id })
  return {
    actor_kind: 'api-key',
    actor_id: key.id,
    actor_name: named.clone().select('name'),
    actor_prefix: named.select('prefix')
  }
}
