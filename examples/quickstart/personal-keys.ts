// Keys of a person at /me/api-keys, beside those of a team, in an app with cookie sessions.
import { randomBytes } from 'node:crypto'
import cookie from '@fastify/cookie'
import dualAuth, { memoryStore } from 'dual-auth'
import management from 'dual-auth/management'
import Fastify, { type FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    person: string | undefined
  }
}

export const app = Fastify()
const sessions = new Map<string, string>() // Session id to person.
export const people = new Set(['ada', 'kim']) // Whom the app lets in.
export const teams = new Map([['red', ['ada']], ['blue', ['ada', 'kim']]])

// The sign-in that the app has: a hook that finds the person.
await app.register(cookie)
app.decorateRequest('person', undefined)
app.addHook('onRequest', async (request) => {
  const person = sessions.get(request.cookies.session ?? '')
  if (person !== undefined && people.has(person)) request.person = person
})

const signedIn = ({ person }: FastifyRequest): string => {
  if (person === undefined) throw Object.assign(new Error('Sign in first'), { statusCode: 401 })
  return person
}
const isMember = (team: string, user: string) => teams.get(team)?.includes(user) === true
const PERSON = 'person:' // No team has such an id, so a key of a person opens no path of a team.

await app.register(dualAuth, {
  apiKeys: {
    marker: 'acme',
    peppers: [{ id: '1', secret: process.env.PEPPER ?? randomBytes(32) }],
    store: memoryStore(),
    ownerParam: 'team',
    ownerIdFromParam: 'slug',
    // Asked at each use: the keys of who left end, those of a team for who left the team.
    mayUse: ({ ownerId, createdBy }) =>
      people.has(createdBy) && (ownerId.startsWith(PERSON) || isMember(ownerId, createdBy))
  },
  jwt: 'host',
  policy: ({ url }) => {
    if (url === '/me/notes') return 'any-key' // It names no owner: the handler looks whose key it is.
    return url === '/teams/:team/notes' ? 'dual' : 'public'
  }
})
await app.register(management, {
  path: '/teams/:team/api-keys',
  canManage: (request, team) => isMember(team, signedIn(request)) && signedIn(request)
})
await app.register(management, {
  path: '/me/api-keys',
  owner: (request) => PERSON + signedIn(request),
  canManage: (request) => signedIn(request),
  operationName: 'my_api_key'
})

/** A key decides alone, also beside a cookie. */
const personOf = (request: FastifyRequest): string => {
  const { identity } = request
  if (identity?.kind !== 'api-key') return signedIn(request)
  if (!identity.ownerId.startsWith(PERSON)) {
    throw Object.assign(new Error('This is the key of a team'), { statusCode: 403 })
  }
  return identity.ownerId.slice(PERSON.length)
}

app.post<{ Body: { name: string } }>('/session', async ({ body }, reply) => {
  const id = randomBytes(32).toString('base64url')
  sessions.set(id, body.name) // Check a password before.
  return reply.setCookie('session', id, { httpOnly: true, sameSite: 'strict', path: '/' }).code(204).send()
})
app.get('/me/notes', async (request) => ({ notes: [], of: personOf(request) }))
app.get<{ Params: { team: string } }>('/teams/:team/notes', async (request, reply) => {
  // A good key of this team has come in before.
  const { identity, params: { team } } = request
  if (identity === null && !isMember(team, signedIn(request))) {
    return reply.code(403).send({ message: 'Not a team of yours' })
  }
  return { notes: [], of: team }
})
