import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { conflict } from '../errors.ts'
import type { Asking } from '../http/asking.ts'
import { configRepository } from './config-repository.ts'

/**
 * Asks a person before an agent's call. A shop can turn the question off.
 *
 * @param effectsOf - reads what a call would do; it throws what the route would, since a call without a question runs
 * @param questionOf - gives undefined where nobody needs to be asked
 */
export function askBefore<Effects> (
  knex: Knex,
  effectsOf: (request: FastifyRequest) => Promise<Effects>,
  questionOf: (effects: Effects) => string | undefined
): Asking<Effects> {
  const shops = configRepository(knex)
  const decided = new WeakMap<FastifyRequest, string | undefined>()
  return {
    async confirm (_args, request) {
      if (!(await shops.get(request.shop)).confirm_agent_calls) return undefined
      const question = questionOf(await effectsOf(request))
      decided.set(request, question)
      return question
    },
    holder (request) {
      if (!decided.has(request)) return undefined
      const question = decided.get(request)
      return (effects) => {
        if (questionOf(effects) !== question) {
          throw conflict(
            '',
            'Others have changed the shop during the call, which would now do something else. Nothing was done: ' +
              'call again'
          )
        }
      }
    }
  }
}
