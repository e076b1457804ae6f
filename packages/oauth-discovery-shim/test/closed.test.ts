import { setImmediate } from 'node:timers/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import shim from '../src/index.ts'
import { provider } from './build.ts'

/** What an app with the plugin warns of when it listens. */
async function warningsOf (
  t: Test,
  close: (app: FastifyInstance) => void,
  options: object = {}
): Promise<readonly string[]> {
  const warnings: string[] = []
  const app = Fastify({
    logger: {
      level: 'warn',
      stream: {
        write: (line: string) => {
          warnings.push(JSON.parse(line).msg)
        }
      }
    }
  })
  t.teardown(() => app.close())
  // Listening does not wait for it.
  const asked = new Promise((resolve) =>
    app.addHook('onResponse', async () => {
      resolve(undefined)
    })
  )
  close(app)
  await app.register(shim, {
    publicBaseUrl: 'http://localhost:8080',
    issuer: (await provider(t)).issuer,
    clientId: 'mcp',
    ...options
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  await asked
  await setImmediate()
  return warnings
}

const warning = (status: number): string =>
  `GET /.well-known/oauth-protected-resource without credentials returns ${status}: MCP clients cannot find the ` +
  'sign-in page. ' +
  'Exempt the routes of oauth-discovery-shim from your authentication, through the route config that its option ' +
  'config sets'

t.test('documents that the app closes to clients without credentials are warned of when it listens', async (t) => {
  for (const status of [401, 403, 300, 302]) {
    t.strictSame(
      await warningsOf(t, (app) => {
        app.addHook('onRequest', async (_, reply) => reply.code(status).send())
      }),
      [warning(status)]
    )
  }
})

t.test('documents that are public, or exempted by their config, are nothing to say', async (t) => {
  t.strictSame(await warningsOf(t, () => {}), [])
  t.strictSame(
    await warningsOf(t, (app) => {
      app.addHook('onRequest', async ({ routeOptions }, reply) => {
        if ((routeOptions.config as { auth?: string }).auth !== 'public') return reply.code(401).send()
      })
    }, { config: { auth: 'public' } }),
    []
  )
  // A server that is too busy at startup, or wants something else, says nothing of its authentication.
  for (const status of [503, 400, 404]) {
    t.strictSame(
      await warningsOf(t, (app) => {
        app.addHook('onRequest', async (_, reply) => reply.code(status).send())
      }),
      []
    )
  }
})
