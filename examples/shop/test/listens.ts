import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Scope } from '../../../test/scope.ts'

/** Starts a program that serves a port of loopback until the test ends. @throws what it printed, if it ends before */
export async function serve (t: Scope, port: number, program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  let printed = ''
  child.stderr.on('data', (data) => {
    printed += String(data)
  })
  await listens(port, child, () => printed)
}

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
