import { readFile } from 'node:fs/promises'
import t from 'tap'

const read = (path: string) => readFile(new URL(path, import.meta.url), 'utf8')

t.test('every option of the broker is in its page', async (t) => {
  const page = await read('../../docs/broker.md')
  const options = [
    ...(/interface BrokerOptions [^{]*\{([^]*?)\n\}/.exec(await read('../../src/broker/options.ts'))?.[1] ?? '')
      .matchAll(
        /^ {2}readonly (\w+)\??: .+$/gm
      )
  ].map(([, name]) => name)
  t.ok(options.length >= 11)
  for (const name of options) t.match(page, `| \`${name}\` |`)
})
