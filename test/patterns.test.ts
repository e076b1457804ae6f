import { readdirSync } from 'node:fs'
import t from 'tap'
import { INSTANT } from '../examples/shop/src/http/schemas.ts'
import { settings } from '../examples/shop/src/settings/settings.ts'
import { secretPattern } from '../examples/shop/src/http/redaction.ts'
import { keyPattern } from '../packages/dual-auth/src/keys/format.ts'
import { IN_LINE, IN_LINES } from '../shared/visible.ts'
import { growth, TOO_MUCH } from './patterns/cost.ts'
import { hostileStrings } from './patterns/hostile.ts'
import { patternsIn } from './patterns/sources.ts'

/** Patterns that are put together at run time, as they are then. */
const computed: Readonly<Record<string, RegExp>> = {
  'examples/shop/src/settings/settings.ts: pattern: someRisks()': new RegExp(
    (settings['ALLOW_INSECURE'] as { pattern: string }).pattern,
    'u'
  ),
  "examples/shop/src/http/redaction.ts: new RegExp([...TEXTS, key].join('|'), 'gi')": secretPattern('shop'),
  // eslint-disable-next-line no-template-curly-in-string
  'examples/shop/src/http/protection.ts: new RegExp(`^${origin}(:\\\\d+)?$`)': /^http:\/\/localhost(:\d+)?$/,
  'examples/shop/src/http/schemas.ts: pattern: INSTANT.source': INSTANT,
  // eslint-disable-next-line no-template-curly-in-string
  'packages/dual-auth/src/keys/format.ts: new RegExp(`^${keyPattern(marker)}$`)': new RegExp(`^${keyPattern('shop')}$`),
  "packages/dual-auth/src/scanning/report.ts: new RegExp(keyPattern(marker), 'g')": new RegExp(keyPattern('shop'), 'g'),
  // eslint-disable-next-line no-template-curly-in-string
  "shared/visible.ts: new RegExp(`(?:${SEEN})|(${UNSEEN}+)`, 'gu')": IN_LINE,
  // eslint-disable-next-line no-template-curly-in-string
  "shared/visible.ts: new RegExp(`(?:${SEEN})|((?:(?![\\\\n\\\\t])${UNSEEN})+)`, 'gu')": IN_LINES
}

/** Patterns that no caller and no other server can choose the input of. */
const unreachable: Readonly<Record<string, string>> = {
  "packages/mcp-from-routes/src/contract/facts.ts: new RegExp(pattern, 'u')":
    'a pattern of the host, on a value of its own schemas',
  "packages/mcp-from-routes/src/schema/plan.ts: new RegExp(pattern, 'u')":
    'a pattern of the host, whose validator runs it on the same names',
  "packages/mcp-from-routes/src/schema/dialect.ts: RegExp(pattern, 'u')":
    'compiled at startup to see whether it can be, never run',
  'packages/mcp-from-routes/src/schema/portable.ts: pattern': 'a pattern of the host, published as it is, never run',
  'packages/mcp-from-routes/src/schema/spelling.ts: pattern': 'a pattern of the host, published as it is, never run',
  'packages/pay-reconcile/src/schedule/options.ts: pattern': 'times in the notation of cron, not a regular expression'
}

const folders = [
  'packages/mcp-from-routes/src',
  'packages/dual-auth/src',
  'packages/oauth-discovery-shim/src',
  'packages/pay-reconcile/src',
  'examples/shop/src',
  'shared'
]
const files = folders.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts')).map((file) =>
    `${folder}/${file}`
  )
)
const patterns = patternsIn(files.sort())

t.test('every pattern of the sources is measured here, or cannot be reached', async (t) => {
  const places = patterns.map(({ place }) => place)
  t.strictSame(
    patterns.filter(({ place, source }) => source === undefined && !(place in computed) && !(place in unreachable)).map(
      ({ place }) => place
    ),
    []
  )
  t.strictSame(
    [...Object.keys(computed), ...Object.keys(unreachable)].filter((place) => !places.includes(place)),
    [],
    'none is gone'
  )
})

for (const { place, source = '', flags } of patterns) {
  if (place in unreachable) continue
  const { source: text, flags: own } = computed[place] ?? new RegExp(source, flags)
  const pattern = new RegExp(text, [...new Set(`${own}g`)].join(''))
  t.test(`takes four times as long for four times the input: ${place}`, async (t) => {
    const { ratio, input } = growth((string) => {
      string.replace(pattern, '')
    }, hostileStrings(pattern))
    t.ok(ratio <= TOO_MUCH, `${ratio.toFixed(1)} times as long for ${JSON.stringify(input)}…`)
  })
}

for (
  const [quality, pattern, isLinear] of [
    ['one that starts at each place of a run', /\beyJ[\w-]+\.[\w.-]+/g, false],
    ['one that tries each end of a run', /\/+$/g, false],
    ['one that reads to the end of a line from each beginning', /(^| - )Client .+ is gone/g, false],
    ['one that divides a run in two', /^\d+\d+$/g, false],
    ['one that can match a character in two ways', /^(?:a|a)*$/g, false],
    ['one that is anchored', /^[a-z]+(?:-[a-z]+)*$/g, true],
    ['one that looks behind for the beginning of a run', /(?<![a-z])[a-z]+_mismatch/g, true]
  ] as const
) {
  t.test(`the measure knows ${quality}`, async (t) => {
    t.equal(
      growth((string) => {
        string.replace(pattern, '')
      }, hostileStrings(pattern)).ratio <= TOO_MUCH,
      isLinear
    )
  })
}
