import type { FastifyBaseLogger } from 'fastify'
import { refusal } from '../refusal.ts'
import type { BrokerStore, Raised } from './memory.ts'

/**
 * A store that says when it cannot be reached. Nothing is exchanged then, as nobody knows what was used before; the
 * client may try again. Its own error, which may name hosts and statements, is only logged.
 */
export function availableStore (store: BrokerStore, log: FastifyBaseLogger): BrokerStore {
  return {
    async raise (key, value, seconds) {
      try {
        return readable(await store.raise(key, value, seconds))
      } catch (err) {
        log.error({ err }, 'the store of used codes and refresh tokens failed')
        throw refusal(
          'temporarily_unavailable',
          'This server cannot check whether a code or token was used before. Try again in a moment',
          503
        )
      }
    }
  }
}

/** A number that cannot be read must not pass for a token that was not used: every comparison with it is false. */
function readable (found: Raised): Raised {
  if (found.raised !== true && !(Number.isSafeInteger(found.value) && Number.isFinite(found.since))) {
    throw new Error('the store returned no number for what was used before')
  }
  return found
}
