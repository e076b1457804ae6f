import { readFileSync } from 'node:fs'
import t from 'tap'

const text = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')

t.test('the page of options lists every option', async (t) => {
  const options = text('src/options.ts')
  const scanning = text('src/scanning/options.ts')
  for (
    const [, name] of (options.split('/** API key options, checked')[0] + scanning).matchAll(
      /^ {2}readonly (\w+)\??:/gm
    )
  ) t.match(text('docs/options.md'), `${name}\``)
})

t.test('the README says what it is compatible with as package.json does', async (t) => {
  const { peerDependencies } = JSON.parse(text('package.json'))
  for (const [name, range] of Object.entries(peerDependencies)) {
    t.ok(text('README.md').toLowerCase().includes(`${name} ${range}`), `${name} ${range}`)
  }
})
