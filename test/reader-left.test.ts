import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const root = fileURLToPath(new URL('../', import.meta.url))

/** Runs a program whose output nobody reads any more. @param streams - those whose reader has left */
async function unread (streams: ReadonlyArray<'stdout' | 'stderr'>, ...args: readonly string[]) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  // At once: Node.js takes longer to start.
  for (const name of streams) child[name].destroy()
  let err = ''
  child.stderr.on('data', (chunk) => {
    err += chunk
  })
  const [code] = await once(child, 'close')
  return { code, err }
}

for (
  const [command, ...args] of [
    ['packages/dual-auth/bin/dual-auth.js', '--help'],
    ['packages/mcp-from-routes/bin/mcp-from-routes.js', '--help'],
    ['packages/oauth-discovery-shim/bin/oauth-discovery-shim.js', '--help'],
    ['packages/pay-reconcile/bin/pay-reconcile.js', '--help']
  ] as const
) {
  t.test(`${command} ends without a word when the reader of its output leaves`, async (t) => {
    t.strictSame(await unread(['stdout'], command, ...args), { code: 0, err: '' })
  })
}

for (
  const [command, code] of [
    ['packages/dual-auth/bin/dual-auth.js', 2],
    ['packages/mcp-from-routes/bin/mcp-from-routes.js', 2],
    ['packages/oauth-discovery-shim/bin/oauth-discovery-shim.js', 2],
    ['packages/pay-reconcile/bin/pay-reconcile.js', 2],
    ['examples/shop/dist/commands/shop.js', 1]
  ] as const
) {
  t.test(`${command} has its exit code, whoever reads its complaint`, async (t) => {
    t.strictSame(await unread(['stderr'], command, '--no-such-option'), { code, err: '' })
  })
}

const shared = (
  program: string
): readonly string[] => [
  '--input-type=module',
  '--eval',
  `import { endWithReader } from './packages/dual-auth/dist/shared/end-with-reader.js'; endWithReader(); ${program}`
]

t.test('a program that is not done ends with the code of a broken pipe', async (t) => {
  t.strictSame(await unread(['stdout'], ...shared('process.stdout.write("a"); setInterval(() => {}, 1000)')), {
    code: 141,
    err: ''
  })
})

t.test('other errors of the streams are still errors', async (t) => {
  t.match(await unread([], ...shared('process.stdout.emit("error", new RangeError("disk full"))')), {
    code: 1,
    err: /RangeError: disk full/
  })
})
