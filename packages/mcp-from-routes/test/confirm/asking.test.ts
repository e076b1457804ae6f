import { CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server'
import t from 'tap'
import { askingFrom, inputRequiredFrom } from '../../src/endpoint/asking.ts'

type Message = Parameters<typeof askingFrom>[1]

const STATE = { id: 'i', of: 'o', until: 1 }
const message = (envelope?: object, response?: unknown): Message => ({ envelope, inputResponses: response === undefined ? undefined : { confirm: response }, requestState: () => STATE }) as unknown as Message
const can = (elicitation: unknown): object => ({ [CLIENT_CAPABILITIES_META_KEY]: { elicitation } })
const nothing = { shows: { form: false, url: false }, client: undefined, answer: undefined, state: STATE }

t.test('only the newest revision can ask', async (t) => {
  t.equal(askingFrom('legacy', message(can({}))), undefined)
  t.strictSame(askingFrom('modern', message()), nothing)
})

t.test('what a client can show, and its name', async (t) => {
  for (const [envelope, wanted] of [
    [can({}), { shows: { form: true, url: false } }],
    [can({ form: {} }), { shows: { form: true, url: false } }],
    [can({ url: {} }), { shows: { form: false, url: true } }],
    [can({ form: {}, url: {} }), { shows: { form: true, url: true } }],
    [can(true), {}],
    [{ [CLIENT_CAPABILITIES_META_KEY]: null }, {}],
    [{ [CLIENT_INFO_META_KEY]: { name: 'Desk' } }, { client: 'Desk' }],
    [{ [CLIENT_INFO_META_KEY]: { name: 5 } }, {}],
    [{ [CLIENT_INFO_META_KEY]: 'Desk' }, {}]
  ] as Array<[object, object]>) t.strictSame(askingFrom('modern', message(envelope)), { ...nothing, ...wanted }, JSON.stringify(envelope))
})

t.test('what a person answered', async (t) => {
  for (const [response, answer] of [
    [{ action: 'accept', content: { confirm: true } }, 'yes'],
    [{ action: 'accept', content: { confirm: false } }, 'decline'],
    [{ action: 'accept', content: { confirm: 'true' } }, 'decline'],
    [{ action: 'accept', content: { other: true } }, 'agreed'],
    [{ action: 'accept', content: [true] }, 'agreed'],
    [{ action: 'accept' }, 'agreed'],
    [{ action: 'decline', content: { confirm: true } }, 'decline'],
    [{ action: 'cancel' }, 'cancel'],
    [{ action: 'later', content: { confirm: true } }, undefined],
    [{ content: { confirm: true } }, undefined],
    ['accept', undefined]
  ] as const) t.strictSame(askingFrom('modern', message({}, response)), { ...nothing, answer }, JSON.stringify(response))
})

t.test('a question is a form with one field that must be filled in, or an address', async (t) => {
  const asks = (asked: object): unknown => JSON.parse(JSON.stringify(inputRequiredFrom({ text: 'Sure?', state: 's', ...asked })))
  const form = { type: 'object', properties: { confirm: { type: 'boolean', title: 'Yes, do it' } }, required: ['confirm'] }
  t.match(asks({}), { requestState: 's', inputRequests: { confirm: { params: { message: 'Sure?', requestedSchema: form } } } })
  t.match(asks({ url: 'https://pay.example/1' }), { requestState: 's', inputRequests: { confirm: { params: { mode: 'url', message: 'Sure?', url: 'https://pay.example/1' } } } })
})
