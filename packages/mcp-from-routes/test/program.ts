import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Teardown } from './build.ts'

/** Runs a program of `examples/quickstart` on a free port until the test ends, and gives the first line it prints. */
export async function runProgram (
  t: Teardown,
  name: string,
  env: Readonly<Record<string, string>> = {}
): Promise<string> {
  const child = spawn(process.execPath, [...process.execArgv, pathOf(name)], {
    env: { ...process.env, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  t.teardown(async () => {
    const gone = once(child, 'exit')
    child.kill()
    await gone
  })
  const [line] = await once(createInterface(child.stdout), 'line') as [string]
  return line
}

function pathOf (name: string): string {
  return fileURLToPath(new URL(`../../../examples/quickstart/${name}.ts`, import.meta.url))
}
