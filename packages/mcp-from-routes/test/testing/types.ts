// Nothing here runs: it is compiled, and that it compiles is the test.
import Fastify, { type FastifyTypeProvider } from 'fastify'
import { agentOf, type Cases, type Question } from '../../src/testing/index.ts'

interface Provider extends FastifyTypeProvider {
  readonly validator: 1
}

agentOf(Fastify())
agentOf(Fastify({ http2: true }))
agentOf(Fastify({ https: null }).withTypeProvider<Provider>(), {
  headers: { authorization: 'x' },
  era: 'legacy',
  answer: async ({ message, url }: Question) => url === undefined && message !== '' ? 'accept' : 'cancel'
})
// @ts-expect-error
agentOf({})
// @ts-expect-error
agentOf(Fastify(), { era: '2026-07-28' })
// @ts-expect-error
agentOf(Fastify(), { answer: () => 'yes' })

const agent = await agentOf(Fastify())
const { text, structuredContent } = await agent.call('a', { b: 1 }, { unchecked: true })
text.trim()
// @ts-expect-error: it is unknown.
export const { b } = structuredContent

export const cases = {
  never: ['delete_*'],
  cases: [{ says: 'Hi', calls: [{ tool: 'a', arguments: { b: 1 }, schema: { required: ['c'] } }], person: 'accept' }]
} as const satisfies Cases
// @ts-expect-error
export const wrong: Cases = { cases: [{ says: 'Hi', call: [] }] }
