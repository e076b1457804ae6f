import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { freePort } from '../../../shared/free-port.ts'
import { folderFor, type Scope } from '../../../test/scope.ts'
import { listens } from './listens.ts'

/** Why there is no Redis to start and stop, else false. */
export const withoutRedis = spawnSync('redis-server', ['--version']).status !== 0 && 'redis-server is not installed'

/** A Redis of its own, which may be killed. */
export interface RedisServer {
  readonly url: string
  start(): Promise<void>
  kill(): Promise<void>
}

/**
 * Starts it on a free port of loopback; it stores nothing.
 *
 * @param options - further ones of its command line
 */
export async function startRedis (t: Scope, options: readonly string[] = []): Promise<RedisServer> {
  const dir = folderFor(t, 'redis')
  const port = await freePort()
  let child: ChildProcess | undefined
  const redis: RedisServer = {
    url: `redis://127.0.0.1:${port}`,
    async start () {
      child = spawn('redis-server', [
        '--bind',
        '127.0.0.1',
        '--port',
        `${port}`,
        '--dir',
        dir,
        '--save',
        '',
        ...options
      ], { stdio: 'ignore' })
      await listens(port, child)
    },
    async kill () {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }
  }
  t.teardown(redis.kill)
  await redis.start()
  return redis
}
