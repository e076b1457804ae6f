import type { ChildProcess } from 'node:child_process'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Waits until something listens at a port of loopback.
 *
 * @param child - the process that will
 * @param printed - what it has printed, should it end instead
 * @throws if it ends
 */
export async function listens (port: number, child: ChildProcess, printed: () => string = () => ''): Promise<void> {
  while (!await answers(port)) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended: ${printed()}`)
    await sleep(20)
  }
}

async function answers (port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const answer = await new Promise<boolean>((resolve) =>
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  )
  socket.destroy()
  return answer
}
