import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'

/** A terminal in which the commands of a page are typed one after another. */
export interface Shell {
  /** Runs commands, which see what earlier ones set. */
  readonly run: (commands: string) => Promise<{ code: number, output: string }>
}

/**
 * Starts bash, with an empty home.
 *
 * @param onError - is told what the commands write to their standard error, as far as it came
 */
export function shell (t: Test, { cwd, home, env, onError }: {
  readonly cwd: string,
  readonly home: string,
  readonly env: Readonly<Record<string, string>>,
  readonly onError: (written: string) => void
}): Shell {
  const child = spawn('bash', ['--noprofile', '--norc'], {
    cwd,
    detached: true,
    env: { PATH: process.env['PATH'], HOME: home, npm_config_update_notifier: 'false', ...env },
    stdio: ['pipe', 'pipe', 'pipe']
  })
  const ended = once(child, 'exit')
  // Nothing is torn down when the test is killed: a loop of the page would run forever.
  child.stdin.write(
    `(while kill -0 ${process.pid}; do sleep 1; done; kill -KILL 0) </dev/null >/dev/null 2>&1 & disown\n`
  )
  t.teardown(async () => {
    // What it started belongs to its group, and goes along.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
    await ended
  })
  let output = ''
  let written = ''
  child.stdout.on('data', (data) => {
    output += data
  })
  child.stderr.on('data', (data) => {
    written += data
    onError(written)
  })

  const END = /\x04(\d+)\x04$/ // eslint-disable-line no-control-regex
  return {
    async run (commands) {
      output = ''
      written = ''
      const file = join(home, 'commands.sh')
      writeFileSync(file, commands)
      child.stdin.write(`source '${file}' </dev/null; printf '\\x04%d\\x04' $?\n`)
      while (!END.test(output)) {
        const [code] = await Promise.race([once(child.stdout, 'data').then(() => []), ended])
        if (code !== undefined) throw new Error(`bash ended with ${code}\n${output}${written}`)
      }
      const code = Number(END.exec(output)![1])
      if (code !== 0) t.comment(written)
      return { code, output: output.replace(END, '') }
    }
  }
}
