import t from 'tap'
import oauthBroker from '../../src/broker/index.ts'
import { options, provider } from '../build.ts'
import { documentsWithHead } from '../documents.ts'

t.test('documents of the broker answer HEAD and OPTIONS, also where the host exposes no HEAD routes', async (t) => {
  const { issuer } = await provider(t)
  const own = { ...options(issuer), secrets: [{ id: 'a', secret: 's'.repeat(32) }], documents: false } as const
  const assertions = {
    issuers: [{ issuer: 'https://acme.example' }],
    keys: [{ id: 'a', secret: 'k'.repeat(32) }],
    clients: [{ id: 'agent', secrets: ['c'.repeat(32)] }]
  }
  for (const [mode, count] of [[{}, 8], [{ assertions }, 9]] as const) {
    const served = await documentsWithHead(t, async (app) => await app.register(oauthBroker, { ...own, ...mode }))
    t.equal(served.length, count, served.join(' '))
  }
})
