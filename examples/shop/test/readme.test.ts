import { readFileSync } from 'node:fs'
import * as dualAuth from 'dual-auth'
import * as shim from 'oauth-discovery-shim'
import * as payReconcile from 'pay-reconcile'
import t from 'tap'
import { settings } from '../src/settings/settings.ts'
import * as shop from '../src/errors.ts'

const page = (name: string): string => readFileSync(new URL(`../../../docs/shop/${name}.md`, import.meta.url), 'utf8')

t.test('the table of settings is the schema', async (t) => {
  const required = new Set(['IDP_ISSUER', 'API_KEY_PEPPERS', 'PAY_KEY_SECRETS'])
  const rows = Object.entries(settings).map(([name, { default: value, description }]) => {
    const shown = value === undefined || value === '' ? (required.has(name) ? 'required' : '') : `\`${String(value)}\``
    return `| \`${name}\` | ${shown}${shown === '' ? '' : ' '}| ${description} |`
  })
  const table = page('settings').split('\n').filter((line) => line.startsWith('| `'))
  t.strictSame(table.slice(0, rows.length), rows, `the table must be:\n${rows.join('\n')}`)
  for (const name of required) t.notOk('default' in settings[name]!, `${name} has no default`)
})

t.test('the table of errors has every code that a client can get', async (t) => {
  const exported = [dualAuth, shim, payReconcile, shop].flatMap((module) => Object.entries(module))
  const errors = exported.flatMap(([name, make]) => /^[A-Z_]+$/.test(name) && typeof make === 'function' ? [new (make as new () => { code: string, statusCode?: number })()] : [])
  // What has no status, or 500, stops a start or is told as SHOP_INTERNAL.
  const isElsewhere = (code: string): boolean => /^OAUTH_DISCOVERY_SHIM_(?:DOCTOR_|PROVIDER_DOCUMENT)/.test(code) // from a command, and in the log
  const told = errors.filter(({ code, statusCode = 500 }) => statusCode !== 500 && !isElsewhere(code)).map(({ code }) => code)
  t.ok(told.length > 40)
  const rows = page('api').split('| status | code | when |')[1]!
  const listed = [...rows.matchAll(/`([A-Z_]+)(…?)`/g)].map(([, code, more]) => ({ code: code!, more: more !== '' }))
  t.strictSame(told.filter((code) => !listed.some((row) => row.more ? code.startsWith(row.code) : row.code === code)), [])
})
