import t from 'tap'
import { agree } from '../agree.ts'
import { signInWorld } from './mcp-app.ts'
import { secrets } from './world.ts'

const broker = { secrets }

for (
  const [what, world, spelling = '/mcp'] of [
    ['a broker', { shimOptions: { broker } }],
    ['a broker, with a slash', { shimOptions: { broker } }, '/mcp/'],
    ['a broker, and the identity provider names itself on the callback', {
      shimOptions: { broker },
      idpOptions: { sendIss: true }
    }],
    ['a broker that registers nobody', { shimOptions: { broker: { ...broker, registration: false } } }],
    ['a broker whose callback the provider does not know', {
      shimOptions: { broker },
      idpOptions: { redirectUris: ['http://localhost:7777/callback'] }
    }]
  ] as const satisfies ReadonlyArray<readonly [string, Parameters<typeof signInWorld>[1], string?]>
) {
  t.test(`what the doctor says of the SDKs is what they do: ${what}`, async (t) => {
    const { baseUrl } = await signInWorld(t, world)
    await agree(t, `${baseUrl}${spelling}`)
  })
}
