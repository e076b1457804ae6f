import type { FastifyBaseLogger } from 'fastify'
import { refusal } from '../refusal.ts'
import type { BrokerStore } from './memory.ts'

/**
 * A store that says when it cannot be reached. Nothing is exchanged then, as nobody knows what was used before; the
 * client may try again. Its own error, which may name hosts and statements, is only logged.
 */
export function availableStore (store: BrokerStore, log: FastifyBaseLogger): BrokerStore {
  return {
    async raise (key, value, seconds) {
      try {
        return await store.raise(key, value, seconds)
      } catch (err) {
        log.error({ err }, 'the store of used codes and refresh tokens failed')
        throw refusal('temporarily_unavailable', 'This server cannot check whether a code or token was used before. Try again in a moment', 503)
      }
    }
  }
}
