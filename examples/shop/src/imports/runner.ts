import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Knex } from 'knex'
import { errorFromDatabase } from '../database/errors.ts'
import { metAnother } from '../database/tried.ts'
import type { ImportKey } from './repository.ts'
import { importSteps } from './step.ts'

/** How often the server looks for imports that another process has left, in milliseconds. */
const INTERVAL = 3000

/** Between two steps, in milliseconds. */
const PAUSE = 10

/** After a step that failed, in milliseconds. */
const REST = 1000

/** Applies imports in the background. */
export interface ImportRunner {
  /** Starts to work, if nothing is under way. */
  wake(): void
}

/**
 * Works at the imports of all shops, one step at a time. When the server closes, it ends after the step that is under
 * way; a step that dies with its process leaves nothing behind.
 *
 * @param onEnd - called when an import has ended here
 */
export function importRunner (
  app: FastifyInstance,
  knex: Knex,
  onEnd: (outcome: 'done' | 'failed') => void
): ImportRunner {
  const { step, fail, postpone, forgetBroken } = importSteps(knex, onEnd)
  let timer: NodeJS.Timeout | undefined
  let closing = false
  let running: Promise<void> | undefined
  let isWanted = false

  async function work (): Promise<void> {
    for (let more = true; more || isWanted;) {
      isWanted = false
      let pause = PAUSE
      try {
        more = !isOver() && await step()
      } catch (error) {
        more = await setAside(error)
        pause = REST
      }
      // Others get in between: the embedded database has one connection.
      if (more) await sleep(pause)
    }
  }

  function isOver (): boolean {
    return closing
  }

  function wake (): void {
    if (closing) return
    isWanted = true
    running ??= work().catch((error: unknown) => {
      app.jobFailed('imports', error, 'Imports could not be applied')
    }).finally(() => {
      running = undefined
    })
  }

  /**
   * An import whose step failed keeps no other waiting: it goes last if that may pass, else it ends.
   *
   * @returns whether there may be others
   */
  async function setAside (error: unknown): Promise<boolean> {
    app.jobFailed('imports', error, 'An import could not be applied')
    const { ofImport, statusCode } = error as { ofImport?: ImportKey, statusCode?: number }
    if (ofImport === undefined) return false
    const isPassing = metAnother(error) ||
      (errorFromDatabase(error as { code?: string })?.statusCode ?? statusCode) === 503
    if (isPassing) postpone(ofImport)
    else await fail(ofImport, 'Internal server error')
    return true
  }

  app.addHook('onListen', async () => {
    timer = setInterval(wake, INTERVAL).unref()
    await forgetBroken().catch((error: unknown) => {
      app.jobFailed('broken_imports', error, 'Broken imports could not be removed')
    })
    wake()
  })
  app.addHook('onClose', async () => {
    closing = true
    clearInterval(timer)
    await running
  })

  return { wake }
}
