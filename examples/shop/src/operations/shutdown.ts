import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { isInner } from './inner.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** How the server leaves without breaking off what it has begun. */
    readonly shutdown: Shutdown
  }
}

/** The way out of service. */
export interface Shutdown {
  /** `leaving`: calls are served, and `/readyz` asks for no more of them. */
  readonly stage: 'serving' | 'leaving'
  /**
   * Leaves, waits until load balancers have seen it, takes no more connections, and waits for the calls in flight.
   * To a proxy a connection that is refused is one to try elsewhere; an answer that says so may be passed on.
   *
   * @param delay - in which connections are still taken, in milliseconds
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
    if (isInner(request)) return
    inFlight += 1
    reply.raw.once('close', () => {
      inFlight -= 1
      if (inFlight === 0) whenIdle()
    })
    // So that the client's next call comes by a new connection, which goes elsewhere.
    if (stage === 'leaving') reply.header('connection', 'close')
  })

  app.decorate('shutdown', {
    get stage () { return stage },
    async drain (delay: number, grace: number) {
      stage = 'leaving'
      await sleep(delay)
      app.server.close()
      const idle = new Promise<void>((resolve) => { whenIdle = resolve })
      if (inFlight > 0) await Promise.race([idle, sleep(grace, undefined, { ref: false })])
    }
  })
}
