import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { call, listen, post } from './build.ts'
import { logs } from './logs.ts'
import { isPortable, withPortablePatterns } from '../src/schema/portable.ts'

t.test('a pattern is published if RE2, Rust and Python read it as JavaScript does', async (t) => {
  const portable = [
    '',
    'abc',
    '^[a-z0-9]+(?:-[a-z0-9]+)*$',
    '^\\d{4}-\\d{2}-\\d{2}$',
    '[^\\s@]+@[^\\s@]+\\.[a-z]{2,}',
    '^(a|b)?$',
    'a*?b+?',
    '[a-]',
    '[-a]',
    '[\\w.-]',
    '[\\]\\[]',
    '\\bword\\b',
    '^\\x41\\t$',
    'größe',
    '😀+',
    '[😀é]',
    '\\/path\\/',
    '(?:a{10}){100}',
    '[&|~]',
    'a{1000}',
    '^.{1,500}$',
    '[^"\\\\]',
    '[a&b&]'
  ]
  const other = [
    '\\p{L}',
    '[\\p{L} ]',
    '(?=a)',
    '(?!a)b',
    '(?<=a)b',
    '(?<!a)b',
    '(?<name>a)',
    '(?i:a)',
    '(a)\\1',
    '\\k<a>',
    '[[a]',
    '[a[]',
    '\\u0041',
    '\\u{1F600}',
    '\\cA',
    '\\0',
    '[\\b]',
    '[]',
    '[^]',
    '[a&&b]',
    '[+--]',
    '[a~~b]',
    '[\\w-.]',
    '[!-\\d]',
    'a{1001}',
    '(?:a{11}){100}',
    '\\<',
    'a{,3}',
    '{',
    '}',
    ']',
    '(a',
    'a)',
    '[\\1]',
    '[\\u0000-\\u001f]',
    'a{1001,}'
  ]
  t.strictSame(portable.filter((pattern) => !isPortable(pattern)), [])
  t.strictSame(other.filter(isPortable), [])
})

const letters = '^\\p{L}+$'
const published = [
  {
    name: 'without a description, the pattern is said in one',
    from: { type: 'string', pattern: letters },
    to: { type: 'string', description: `Matches the regular expression ${letters}` }
  },
  {
    name: 'a description of the route stays as it is',
    from: { type: 'string', pattern: letters, description: 'Letters' },
    to: { type: 'string', description: 'Letters' }
  },
  {
    name: 'a portable pattern stays, and a property that is called pattern is no pattern',
    from: { properties: { pattern: { type: 'string', pattern: '^a' }, other: { pattern: letters } } },
    to: {
      properties: {
        pattern: { type: 'string', pattern: '^a' },
        other: { description: `Matches the regular expression ${letters}` }
      }
    }
  },
  {
    name: 'names that the pattern allows are not refused',
    from: { type: 'object', patternProperties: { [letters]: { type: 'string' } }, additionalProperties: false },
    to: { type: 'object' }
  },
  {
    name: 'other patterns of names stay',
    from: {
      patternProperties: { [letters]: { type: 'string' }, '^x-': { type: 'number' } },
      additionalProperties: false
    },
    to: { patternProperties: { '^x-': { type: 'number' } } }
  },
  {
    name: 'what must not match is left out',
    from: { type: 'string', not: { pattern: letters } },
    to: { type: 'string' }
  },
  {
    name: 'one of several becomes any of them',
    from: { oneOf: [{ pattern: letters, description: 'A' }, { type: 'null' }] },
    to: { anyOf: [{ description: 'A' }, { type: 'null' }] }
  },
  {
    name: 'a condition on a pattern is left out',
    from: { if: { pattern: letters }, then: { minLength: 3 }, else: { maxLength: 2 } },
    to: {}
  },
  {
    name: 'so is a limit for what contains one',
    from: { contains: { pattern: letters, description: 'A' }, maxContains: 1 },
    to: { contains: { description: 'A' } }
  },
  {
    name: 'what is left of names and items is not refused because no pattern judges them any more',
    from: {
      allOf: [{ type: 'object', patternProperties: { [letters]: { type: 'string' } } }],
      unevaluatedProperties: false
    },
    to: { allOf: [{ type: 'object' }] }
  },
  {
    name: 'nor because no condition does',
    from: {
      if: { properties: { äö: { pattern: letters } } },
      then: { properties: { äö: {} } },
      unevaluatedProperties: false
    },
    to: {}
  },
  {
    name: 'what refers to a definition with one counts as one',
    from: { $defs: { name: { pattern: letters, description: 'A' } }, not: { $ref: '#/$defs/name' } },
    to: { $defs: { name: { description: 'A' } } }
  }
]
for (const { name, from, to } of published) {
  t.test(name, async (t) => {
    t.strictSame(JSON.parse(JSON.stringify(withPortablePatterns(from))), to)
  })
}

t.test('what is published accepts all that the route accepts', async (t) => {
  const ajv = new Ajv2020({ strict: false })
  const values = ['abc', 'äö', 'a1', '', null, 3, 'x'.repeat(4), { äö: 'a' }, { a1: 1, 'x-a': 2 }, ['abc', 'a1'], [
    'ab',
    'cd'
  ]]
  for (const { name, from } of published) {
    const [before, after] = [ajv.compile(from), ajv.compile(withPortablePatterns(from))]
    t.strictSame(values.filter((value) => before(value) && !after(value)), [], name)
  }
})

t.test('a pattern that a provider cannot read is not listed, said at startup, and checked by the route', async (t) => {
  const { lines, logger } = logs('info')
  const { url } = await listen(
    t,
    async (app) => {
      app.post('/people', {
        schema: {
          operationId: 'create_person',
          description: 'Create a person.',
          tags: ['mcp'],
          body: {
            type: 'object',
            properties: { name: { type: 'string', pattern: letters }, slug: { type: 'string', pattern: '^[a-z]+$' } }
          },
          response: {
            200: { type: 'object', patternProperties: { '^\\p{L}$': { type: 'string' }, '^x': { type: 'string' } } }
          }
        }
      }, async () => ({ x: 'y' }))
    },
    {},
    { logger }
  )
  const { body } = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/list' })
  const [tool] = (body as { result: { tools: ReadonlyArray<Record<string, Record<string, object>>> } }).result.tools
  t.strictSame(tool?.inputSchema?.properties, {
    name: { type: 'string', description: `Matches the regular expression ${letters}` },
    slug: { type: 'string', pattern: '^[a-z]+$' }
  })
  t.strictSame(Object.keys(tool?.outputSchema?.patternProperties ?? {}), ['^x'])
  t.match(lines.filter(({ patterns }) => patterns !== undefined), [{ patterns: [`create_person: ${letters}`] }])
  t.match(await call(url, 'create_person', { name: 'a1' }), { isError: true })
  t.match(await call(url, 'create_person', { name: 'Zoë' }), { structuredContent: { x: 'y' } })
})
