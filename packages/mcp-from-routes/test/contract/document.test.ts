import t from 'tap'
import { bare, canonical, documentOf, isAnnotation, refersByName, sameDocument, sameSchema } from '../../src/contract/document.ts'

const text = { type: 'string' }
const to = (ref: string, keyword = '$ref'): Record<string, string> => ({ [keyword]: ref })
const words = ['$comment', '$defs', '$schema', 'contentEncoding', 'contentMediaType', 'contentSchema', 'default', 'definitions', 'deprecated', 'description', 'examples', 'readOnly', 'title', 'writeOnly', 'x-order']

t.test('what constrains nothing is an annotation', async (t) => {
  t.strictSame([...words, 'type', '', 'x-extensible-enum', 'a-x-'].filter(isAnnotation), words)
  t.strictSame(bare({ a: 1, ...Object.fromEntries(words.map((word) => [word, {}])), items: { title: 'T', ...text }, properties: { title: text } }), { a: 1, $defs: {}, definitions: {}, items: text, properties: { title: text } })
  t.strictSame([true, 'a', [text]].map(bare), [true, 'a', [text]])
  const schema = { title: 'T' }
  t.equal(bare(schema), bare(schema), 'it is made once')
})

t.test('the same value has the same text', async (t) => {
  for (const [value, written] of [
    [{ b: 1, a: [{ d: 1, c: 'x' }], e: undefined }, '{"a":[{"c":"x","d":1}],"b":1}'], [[undefined, 1, 'a'], '[null,1,"a"]'], [undefined, 'undefined'], [null, 'null'], [{}, '{}'], [[], '[]'], [{ 'a"b': true }, '{"a\\"b":true}']
  ] as const) t.equal(canonical(value), written)
})

t.test('which references lead to a schema itself or to a definition by name', async (t) => {
  for (const [schema, is] of [
    [text, true], [to('#'), true], [to('#/$defs/A'), true], [to('#/$defs/A/items'), false], [to('#/$defs/a~1b'), false], [to('#/$defs/a%20b'), false], [to('#/$defs/'), false], [to('#/properties/a'), false], [to('x#/$defs/A'), false],
    [{ allOf: [to('#'), to('#/properties/a')] }, false], [to('#', '$dynamicRef'), false], [to('#', '$recursiveRef'), false], [{ items: to('a"b') }, false]
  ] as const) t.equal(refersByName(schema), is, JSON.stringify(schema))
})

t.test('which schemas say the same', async (t) => {
  for (const [a, b, is] of [
    [text, { title: 'T', ...text }, true], [text, { type: 'number' }, false], [to('#'), to('#'), true], [to('#/$defs/A'), to('#/$defs/A'), true], [to('#'), to('#/$defs/A'), false], [to('#/default'), to('#/default'), false], [to('#/$defs/A/default'), to('#/$defs/A/default'), false],
    [{ allOf: [to('#'), to('#/$defs/A')] }, { allOf: [to('#'), to('#/$defs/A')] }, false]
  ] as const) t.equal(sameDocument(a, b), is, JSON.stringify([a, b]))
  t.equal(documentOf({}).definitions, documentOf({ $defs: {} }).definitions)
  const [one, other, same] = [{ A: text }, { A: { type: 'number' } }, { A: { title: 'T', ...text } }].map(($defs) => documentOf({ $defs }))
  for (const [a, b, of, is] of [
    [text, { title: 'T', ...text }, other, true], [text, true, same, false], [to('#/$defs/A'), to('#/$defs/A'), same, true], [to('#/$defs/A'), to('#/$defs/A'), other, false], [to('#'), to('#'), same, false], [to('#/$defs/A', '$dynamicRef'), to('#/$defs/A', '$dynamicRef'), other, false], [to('#/$defs/A', '$recursiveRef'), to('#/$defs/A', '$recursiveRef'), other, false]
  ] as const) t.equal(one && of && sameSchema(a, one, b, of), is, JSON.stringify([a, b]))
})
