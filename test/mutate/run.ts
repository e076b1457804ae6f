import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import { nodeFlags } from '../node-flags.js'

export type Outcome = 'passed' | 'failed' | 'timed out'

/**
 * Runs test files in one process until the first failure, for so many milliseconds at most.
 *
 * @param env - additional environment
 */
export async function runTests (files: readonly string[], directory: string, limit: number, env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  // a group of its own, so that what the test started ends with it
  const test = spawn(process.execPath, [...nodeFlags(pathToFileURL(`${directory}/`)), 'test/batch.js'], {
    cwd: directory,
    detached: true,
    stdio: 'ignore',
    env: { ...process.env, ...env, TEST_FILES: JSON.stringify(files), TAP_BAIL: '1', TAP_TIMEOUT: String(Math.ceil(limit / 1000)) }
  })
  const end = (): void => {
    try {
      process.kill(-test.pid!, 'SIGKILL')
    } catch {} // it ended before
  }
  const timer = setTimeout(end, limit)
  process.once('exit', end)
  const [code, signal] = await once(test, 'exit')
  process.off('exit', end)
  clearTimeout(timer)
  end()
  if (signal !== null) return 'timed out'
  return code === 0 ? 'passed' : 'failed'
}
