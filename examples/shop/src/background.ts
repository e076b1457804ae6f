import type { FastifyInstance } from 'fastify'

/**
 * Runs work at the start of the server and every `interval` milliseconds, one run after another. The server waits for
 * it before it closes.
 *
 * @param work - `isEnough` is true once the server closes: asked between two parts
 * @param onError - the work runs again all the same
 * @returns starts a run before its time
 */
export function inBackground (
  app: FastifyInstance,
  interval: number,
  work: (isEnough: () => boolean) => Promise<void>,
  onError: (error: unknown) => void
): () => void {
  let timer: NodeJS.Timeout | undefined
  let closing = false
  let running = Promise.resolve()
  const run = (): void => {
    running = running.then(async () => await work(() => closing)).catch(onError)
  }
  app.addHook('onListen', async () => {
    timer = setInterval(run, interval).unref()
    run()
  })
  app.addHook('onClose', async () => {
    closing = true
    clearInterval(timer)
    await running
  })
  return run
}
