import { execFile } from 'node:child_process'
import { converse, task } from './lab.ts'

const headers = Object.entries(task.headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`])

/** Runs the command once; it exits with 5 after a tool's error, which it prints as a result. */
async function inspect (...args: string[]): Promise<any> {
  return await new Promise((resolve, reject) => {
    execFile(process.execPath, ['node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', '--cli', task.url, '--transport', 'http', ...headers, ...task.document === undefined ? [] : ['--client-metadata-url', task.document], ...args], { cwd: import.meta.dirname, maxBuffer: 1e8 }, (error, stdout, stderr) => {
      if (stdout !== '') resolve(JSON.parse(stdout))
      else reject(error === null ? new Error(stderr) : Object.assign(new Error(stderr.trim()), { name: `exit ${error.code}` }))
    })
  })
}

const { instructions } = await inspect('--method', 'initialize')
const { tools } = await inspect('--method', 'tools/list')
await converse(instructions, tools, async ({ name, arguments: args }) =>
  await inspect('--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)))
