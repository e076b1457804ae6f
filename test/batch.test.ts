import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { nodeFlags } from './node-flags.js'

const BATCH = fileURLToPath(new URL('batch.js', import.meta.url))

/** What a test of each file does. */
const files = {
  'timer.test.ts': "setTimeout(() => { throw new Error('thrown by a timer') }, 5)",
  'promise.test.ts': "void sleep(5).then(() => { throw new Error('rejected by a promise') })",
  'nested.test.ts':
    "await t.test('inner', async () => { setImmediate(() => { throw new Error('thrown in a test of a test') }); " +
    'await sleep(50) })',
  'fine.test.ts': 't.pass()'
}

t.test('an error that nothing catches fails the file that it comes from, and no other', (t) => {
  const directory = t.testdir(Object.fromEntries(
    Object.entries(files).map(([name, does]) => [
      name,
      `
    import { setTimeout as sleep } from 'node:timers/promises'
    import t from 'tap'
    t.test('a test', async (t) => { ${does}; await sleep(50) })`
    ])
  ))
  const { status, stdout } = spawnSync(process.execPath, [...nodeFlags(new URL('../', import.meta.url)), BATCH], {
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      TEST_FILES: JSON.stringify(Object.keys(files).map((name) => join(directory, name)))
    }
  })
  t.equal(status, 1)
  const ended = [...stdout.matchAll(/^((?:not )?ok) \d+ - \S*\/(\w+)\.test\.ts /gm)].map(([, result, name]) =>
    `${name}: ${result}`
  )
  t.strictSame(ended, ['timer: not ok', 'promise: not ok', 'nested: not ok', 'fine: ok'], stdout)
  for (const error of ['thrown by a timer', 'rejected by a promise', 'thrown in a test of a test']) {
    t.match(stdout, new RegExp(`not ok \\d+ - ${error}$`, 'm'))
  }
  t.end()
})
