import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import { OAUTH_DISCOVERY_SHIM_INVALID_OPTION } from '../../errors.ts'
import { isObject } from '../../json.ts'
import type { GrantStore } from './store.ts'

/** A record of which clients people have let in, and routes to see and end them. */
export interface GrantOptions {
  readonly store: GrantStore
  /**
   * Whose grants the caller of the routes may see and end: usually the subject of their own token. An error that it throws
   * becomes the response.
   */
  readonly whose: (request: FastifyRequest) => string | Promise<string>
  /**
   * The claim of access tokens, or else of ID tokens, that {@link GrantOptions.whose} returns the value of; or what makes
   * that of all claims, undefined if they do not say it. Default `sub`.
   */
  readonly subjectClaim?: string | ((claims: Readonly<Record<string, unknown>>) => string | undefined)
  /** Route `config` of the two routes, which must not be public. Default `{}`. */
  readonly config?: FastifyContextConfig
}

/**
 * Checks the options and fills in defaults.
 *
 * @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION}
 */
export function grantSettings (options: GrantOptions, { hasStore, hasTenants }: { readonly hasStore: boolean, readonly hasTenants: boolean }): Required<GrantOptions> {
  must(isObject(options), ' must be an object')
  const { store, whose, subjectClaim = 'sub', config = {}, ...unknown } = options
  for (const name of Object.keys(unknown)) must(false, `.${name} is not an option`)
  must(['record', 'list', 'find', 'end'].every((method) => typeof (store as unknown as Record<string, unknown> | undefined)?.[method] === 'function'), '.store must be a store with the methods record, list, find and end')
  must(typeof whose === 'function', '.whose must be a function that says whose grants the caller may see')
  must(typeof subjectClaim === 'function' || (typeof subjectClaim === 'string' && subjectClaim !== ''), '.subjectClaim must be the name of a claim, or a function of the claims')
  must(!hasTenants || typeof subjectClaim === 'function', '.subjectClaim must be a function with an issuer of several tenants: it makes the name of iss and of the claim, as two tenants may use one value for two people')
  must(isObject(config), '.config must be an object')
  must(hasStore, ' needs broker.store: a process alone would forget at a restart which sign-ins were ended')
  return { store, whose, subjectClaim, config }
}

function must (condition: boolean, message: string): asserts condition {
  if (!condition) throw new OAUTH_DISCOVERY_SHIM_INVALID_OPTION(`broker.grants${message}`)
}
