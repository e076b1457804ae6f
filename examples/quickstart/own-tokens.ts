// API keys in an app that issues and checks tokens of its own.
import jwt from '@fastify/jwt'
import dualAuth, { memoryStore } from 'dual-auth'
import management from 'dual-auth/management'
import Fastify from 'fastify'

const { TOKEN_SECRET = '', PEPPER = '' } = process.env

export const app = Fastify()

await app.register(jwt, { secret: TOKEN_SECRET })
await app.register(dualAuth, {
  apiKeys: {
    marker: 'acme',
    peppers: [{ id: '1', secret: PEPPER }],
    store: memoryStore(),
    ownerParam: 'team',
    ownerIdFromParam: 'slug'
  },
  jwt: 'host',
  policy: ({ url }) => url.startsWith('/teams/:team/reports') ? 'dual' : 'public'
})
await app.register(management, {
  path: '/teams/:team/api-keys',
  canManage: async (request, team) => {
    const { sub, teams } = await request.jwtVerify<{ sub: string, teams: readonly string[] }>() // Answers 401 itself.
    return teams.includes(team) && sub
  }
})

// The check that the app has; a good key has come in before it.
app.addHook<{ Params: { team?: string } }>('onRequest', async (request) => {
  if (request.identity !== null || request.routeOptions.config.auth !== 'dual') return
  const { teams } = await request.jwtVerify<{ teams: readonly string[] }>()
  if (!teams.includes(request.params.team ?? '')) {
    throw Object.assign(new Error('Not a team of yours'), { statusCode: 403 })
  }
})

app.get('/teams/:team/reports', async ({ identity }) => ({ reports: [], by: identity?.kind ?? 'a person' }))
