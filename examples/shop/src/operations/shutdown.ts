import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { SHOP_CLOSING } from '../errors.ts'
import { isInner } from './inner.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** How the server leaves without breaking off what it has begun. */
    readonly shutdown: Shutdown
  }
}

/** The way out of service. */
export interface Shutdown {
  /** `leaving`: calls are served, and `/readyz` asks for no more of them. `closing`: new calls are refused. */
  readonly stage: 'serving' | 'leaving' | 'closing'
  /**
   * Leaves, waits until load balancers have seen it, refuses new calls, and waits for those in flight.
   *
   * @param delay - in which calls are still taken, in milliseconds
   * @param grace - for the calls in flight after that, in milliseconds
   */
  drain (delay: number, grace: number): Promise<void>
}

/** Knows how many calls are in flight. Must be registered before whatever may answer a call. */
export function drainable (app: FastifyInstance): void {
  let stage: Shutdown['stage'] = 'serving'
  let inFlight = 0
  let whenIdle = (): void => {}

  app.addHook('onRequest', async (request, reply) => {
    // What belongs to a call that was taken is carried to its end.
    if (isInner(request)) return
    inFlight += 1
    reply.raw.once('close', () => {
      inFlight -= 1
      if (inFlight === 0) whenIdle()
    })
    if (stage !== 'serving') reply.header('connection', 'close')
    if (stage === 'closing' && request.routeOptions.url !== '/healthz' && request.routeOptions.url !== '/readyz') throw new SHOP_CLOSING()
  })

  app.decorate('shutdown', {
    get stage () { return stage },
    async drain (delay: number, grace: number) {
      stage = 'leaving'
      await sleep(delay)
      stage = 'closing'
      const idle = new Promise<void>((resolve) => { whenIdle = resolve })
      if (inFlight > 0) await Promise.race([idle, sleep(grace, undefined, { ref: false })])
    }
  })
}
