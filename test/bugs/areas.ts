import { bugFrom, type Bug } from './bug.ts'
import { bugs as ofConsole } from './console.ts'
import { bugs as ofDualAuth } from './dual-auth.ts'
import { bugs as ofMcpFromRoutes } from './mcp-from-routes.ts'
import { bugs as ofOauthDiscoveryShim } from './oauth-discovery-shim.ts'
import { bugs as ofPayReconcile } from './pay-reconcile.ts'
import { bugs as ofShop } from './shop.ts'

/** A part of the repository. */
export interface Area {
  readonly name: string
  /** Its folder, with `src` and `test` in it. */
  readonly home: string
  readonly bugs: readonly Bug[]
}

export const areas: readonly Area[] = [
  { name: 'mcp-from-routes', home: 'packages/mcp-from-routes', bugs: ofMcpFromRoutes.map(bugFrom) },
  { name: 'dual-auth', home: 'packages/dual-auth', bugs: ofDualAuth.map(bugFrom) },
  { name: 'oauth-discovery-shim', home: 'packages/oauth-discovery-shim', bugs: ofOauthDiscoveryShim.map(bugFrom) },
  { name: 'pay-reconcile', home: 'packages/pay-reconcile', bugs: ofPayReconcile.map(bugFrom) },
  { name: 'shop', home: 'examples/shop', bugs: ofShop.map(bugFrom) },
  { name: 'console', home: 'examples/console', bugs: ofConsole.map(bugFrom) }
]
