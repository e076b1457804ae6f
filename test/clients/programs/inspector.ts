import { execFile } from 'node:child_process'
import { converse, readResource, task } from './lab.ts'

const headers = Object.entries(task.headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`])

/** Runs the command once. */
async function run (
  ...args: string[]
): Promise<{ readonly code: unknown, readonly stdout: string, readonly stderr: string }> {
  return await new Promise((resolve) => {
    execFile(
      process.execPath,
      [
        'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
        '--cli',
        task.url,
        '--transport',
        'http',
        ...headers,
        ...task.document === undefined ? [] : ['--client-metadata-url', task.document],
        ...args
      ],
      { cwd: import.meta.dirname, maxBuffer: 1e8 },
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr: stderr.trim() })
    )
  })
}

/** @returns the result; a tool's error is one, with which the command exits with 5 */
async function inspect (...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await run(...args)
  if (stdout === '') throw Object.assign(new Error(stderr), { name: `exit ${code}` })
  return JSON.parse(stdout)
}

/** Runs a command that exits with another code than 0 when it finds something wrong. */
async function check (...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await run(...args)
  if (code !== 0) throw new Error(`${args.join(' ')} exits with ${code}:\n${stdout}${stderr}`)
}

const { instructions } = await inspect('--method', 'initialize')
const { tools } = await inspect('--method', 'tools/list')
await readResource(async (uri) => {
  await inspect('--method', 'resources/read', '--uri', uri)
  await check('--method', 'skills/list', '--verify', '--require-digests')
  await check('--method', 'tools/list', '--strict')
})
await converse(
  instructions,
  tools,
  async ({ name, arguments: args }) =>
    await inspect('--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args))
)
