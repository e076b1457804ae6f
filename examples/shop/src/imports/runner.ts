import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Knex } from 'knex'
import { importSteps } from './step.ts'

/** How often the server looks for imports that another process has left, in milliseconds. */
const INTERVAL = 3000

/** Between two steps, in milliseconds. */
const PAUSE = 10

/** Applies imports in the background. */
export interface ImportRunner {
  /** Starts to work, if nothing is under way. */
  wake (): void
}

/**
 * Works at the imports of all shops, one step at a time. When the server closes, it ends after the step that is under way; a
 * step that dies with its process leaves nothing behind.
 */
export function importRunner (app: FastifyInstance, knex: Knex): ImportRunner {
  const { step, fail, forgetBroken } = importSteps(knex)
  let timer: NodeJS.Timeout | undefined
  let closing = false
  let running: Promise<void> | undefined
  let isWanted = false

  async function work (): Promise<void> {
    for (let more = true; more || isWanted;) {
      isWanted = false
      more = !isOver() && await step()
      // Others get in between: the embedded database has one connection.
      if (more) await sleep(PAUSE)
    }
  }

  function isOver (): boolean {
    return closing
  }

  function wake (): void {
    if (closing) return
    isWanted = true
    running ??= work().catch(complain).finally(() => {
      running = undefined
    })
  }

  /** One whose error is nobody's but the server's would keep all others waiting. */
  async function complain (error: unknown): Promise<void> {
    app.log.error({ err: error }, 'An import could not be applied')
    const { importId, statusCode, code = '' } = error as { importId?: string, statusCode?: number, code?: string }
    const isPassing = statusCode === 503 || /^(57|53|08|40|E[A-Z])/.test(code) || code === ''
    if (importId !== undefined && !isPassing) await fail(importId, 'Internal server error').catch(() => {})
  }

  app.addHook('onListen', async () => {
    timer = setInterval(wake, INTERVAL).unref()
    await forgetBroken().catch((error: unknown) => { app.log.error({ err: error }, 'Broken imports could not be removed') })
    wake()
  })
  app.addHook('onClose', async () => {
    closing = true
    clearInterval(timer)
    await running
  })

  return { wake }
}
