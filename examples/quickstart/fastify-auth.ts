// API keys as one of several ways in, composed by @fastify/auth.
import auth from '@fastify/auth'
import jwt from '@fastify/jwt'
import dualAuth, { memoryStore } from 'dual-auth'
import management from 'dual-auth/management'
import Fastify, { type FastifyRequest } from 'fastify'

const { TOKEN_SECRET = '', PEPPER = '' } = process.env

export const app = Fastify()

await app.register(auth)
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
    const { sub, teams } = await request.jwtVerify<{ sub: string, teams: readonly string[] }>()
    return teams.includes(team) && sub
  }
})

// A bad key was refused before.
async function withKey ({ identity }: FastifyRequest): Promise<void> {
  if (identity?.kind !== 'api-key') throw Object.assign(new Error('No API key'), { statusCode: 401 })
}

async function withToken (request: FastifyRequest): Promise<void> {
  const { team } = request.params as { team: string }
  const { teams } = await request.jwtVerify<{ teams: readonly string[] }>()
  if (!teams.includes(team)) throw Object.assign(new Error('Not a team of yours'), { statusCode: 403 })
}

// The error of the last one is the answer.
app.get(
  '/teams/:team/reports',
  { preHandler: app.auth([withKey, withToken]) },
  async ({ identity }) => ({ reports: [], by: identity?.kind ?? 'a person' })
)
