import t from 'tap'
import { excerpt } from '../src/call/excerpt.ts'
import { addTrace, traceFromMeta } from '../src/call/trace.ts'
import type { TraceContext } from '../src/call/trace.ts'

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01'

t.test('what _meta says of a trace, as far as a header can hold it', async (t) => {
  for (const [meta, trace] of [
    [{}, undefined], [{ tracestate: 'a=1' }, undefined],
    [{ traceparent: TRACE }, { traceparent: TRACE }], [{ traceparent: `${TRACE}-more` }, { traceparent: `${TRACE}-more` }], [{ traceparent: `${TRACE}more` }, {}], [{ traceparent: `x${TRACE}` }, {}],
    [{ traceparent: TRACE, tracestate: 'a=1', baggage: 'b=2' }, { traceparent: TRACE, tracestate: 'a=1', baggage: 'b=2' }],
    [{ traceparent: 'x', tracestate: 'a=1', baggage: 'b=2' }, { baggage: 'b=2' }], [{ tracestate: 'a=1', baggage: 'b=2' }, { baggage: 'b=2' }],
    [{ traceparent: TRACE, tracestate: 'ü', baggage: '' }, { traceparent: TRACE }], [{ traceparent: TRACE, tracestate: 5, baggage: 'a\nb' }, { traceparent: TRACE }],
    [{ baggage: 'x'.repeat(8192) }, { baggage: 'x'.repeat(8192) }], [{ baggage: 'x'.repeat(8193) }, {}]
  ] as const) t.strictSame(traceFromMeta(meta), trace, JSON.stringify(meta).slice(0, 99))
})

t.test('a trace goes into the headers that travel, and a state only with its own trace', async (t) => {
  const all = { traceparent: 'A', tracestate: 'B', baggage: 'C' }
  const own = { traceparent: 'a', tracestate: 'b', baggage: 'c' }
  for (const [trace, names, headers] of [
    [all, ['traceparent', 'tracestate', 'baggage'], all],
    [all, [], own],
    [all, ['traceparent'], { traceparent: 'A', baggage: 'c' }],
    [all, ['tracestate'], own],
    [all, ['baggage'], { ...own, baggage: 'C' }],
    [{ traceparent: 'A' }, ['traceparent', 'tracestate', 'baggage'], { traceparent: 'A', baggage: 'c' }],
    [{ baggage: 'C' }, ['traceparent', 'tracestate', 'baggage'], { ...own, baggage: 'C' }]
  ] as Array<[TraceContext, string[], object]>) {
    const sent: Record<string, string> = { ...own }
    addTrace(sent, trace, new Set(names))
    t.strictSame(sent, headers, JSON.stringify([trace, names]))
  }
})

t.test('an excerpt has 200 characters, and no half of one', async (t) => {
  const smile = '\u{1f600}'
  for (const [text, quoted] of [
    ['', ''], ['x'.repeat(200), 'x'.repeat(200)], ['x'.repeat(201), `${'x'.repeat(199)}…`], [`${'x'.repeat(198)}${smile}x`, `${'x'.repeat(198)}…`], [`${'x'.repeat(197)}${smile}xx`, `${'x'.repeat(197)}${smile}…`]
  ] as const) t.equal(excerpt(text), quoted)
})
