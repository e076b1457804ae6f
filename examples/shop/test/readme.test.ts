import { readFileSync } from 'node:fs'
import t from 'tap'
import { settings } from '../src/settings/settings.ts'

const page = (name: string): string => readFileSync(new URL(`../../../docs/shop/${name}.md`, import.meta.url), 'utf8')

t.test('the table of settings is the schema', async (t) => {
  const required = new Set(['IDP_ISSUER', 'API_KEY_PEPPERS', 'PAY_KEY_SECRETS'])
  const rows = Object.entries(settings).map(([name, { default: value, description }]) => {
    const otherwise = required.has(name) ? 'required' : ''
    const shown = value === undefined || value === '' ? otherwise : `\`${String(value)}\``
    return `| \`${name}\` | ${shown}${shown === '' ? '' : ' '}| ${description} |`
  })
  const table = page('settings').split('\n').filter((line) => line.startsWith('| `'))
  t.strictSame(table.slice(0, rows.length), rows, `the table must be:\n${rows.join('\n')}`)
  for (const name of required) t.notOk('default' in settings[name]!, `${name} has no default`)
})
