import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import t from 'tap'
import Fastify from 'fastify'
import dualAuth from '../packages/dual-auth/src/index.ts'
import mcpFromRoutes from '../packages/mcp-from-routes/src/index.ts'
import oauthDiscoveryShim from '../packages/oauth-discovery-shim/src/index.ts'
import payReconcile from '../packages/pay-reconcile/src/index.ts'

const plugins = {
  'dual-auth': dualAuth,
  'mcp-from-routes': mcpFromRoutes,
  'oauth-discovery-shim': oauthDiscoveryShim,
  'pay-reconcile': payReconcile
}

for (const [name, plugin] of Object.entries<any>(plugins)) {
  t.test(`a wrong option of ${name} ends at the heading of a page that says what to do`, async (t) => {
    const error = await Fastify().register(plugin, { noSuchOption: true }).ready().then(
      () => undefined,
      (error) => error
    )
    t.equal(error.see, `${name}/docs/errors.md#${error.code.toLowerCase()}`)
    t.match(inspect(error), error.see, 'a terminal shows it')
    t.notMatch(error.message, 'errors.md')
    t.match(
      readFileSync(new URL(`../packages/${error.see.split('#')[0]}`, import.meta.url), 'utf8'),
      `\`${error.code}\``
    )
  })
}
