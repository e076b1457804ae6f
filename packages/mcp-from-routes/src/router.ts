import type { FastifyInstance } from 'fastify'
import { serverOptions } from './inherited.ts'

/** What the host made of the router, as far as it decides where a request leads. */
export interface Router {
  /** Whether it tells `/Users` from `/users`. */
  readonly caseSensitive: boolean
  readonly ignoreTrailingSlash: boolean
  readonly ignoreDuplicateSlashes: boolean
  /** Whether a constraint is the host's: neither `version` nor `host`, or one that the host put in its place. */
  readonly isOwn: (constraint: string) => boolean
  /** Whether requests that have a value for a constraint may find no route without it. */
  readonly mustMatch: (constraint: string) => boolean
}

interface Strategy { readonly name: string, readonly mustMatchWhenDerived?: boolean }

/** Reads what is to be known of the router, which is all once every plugin is loaded. */
export function routerOf (app: FastifyInstance): Router {
  const { caseSensitive = true, ignoreTrailingSlash = false, ignoreDuplicateSlashes = false, constraints } = Object(serverOptions(app).routerOptions)
  const strategies = Object.values<Strategy>(constraints ?? {})
  const replaced = ['version', 'host'].filter((name) => isReplaced(app, name))
  const isOwn = (constraint: string): boolean => (constraint !== 'version' && constraint !== 'host') || replaced.includes(constraint)
  return {
    caseSensitive,
    ignoreTrailingSlash,
    ignoreDuplicateSlashes,
    isOwn,
    mustMatch (constraint) {
      // A call has a version only where its tool has one.
      if (!isOwn(constraint)) return false
      const strategy = strategies.find(({ name }) => name === constraint)
      // One that was added later nobody can read.
      return strategy === undefined || strategy.mustMatchWhenDerived === true
    }
  }
}

/** The first constraint that is the host's own: of the router's two the plugin knows the headers. */
export function ownConstraint ({ isOwn }: Router, constraints: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(constraints).find(isOwn)
}

/**
 * Whether the host put a strategy in place of a built-in one. The router has a strategy of that name in either case
 * once a route uses it, and then refuses to take another: only what it says then tells the two apart.
 */
function isReplaced (app: FastifyInstance, name: string): boolean {
  if (!app.hasConstraintStrategy(name)) return false
  try {
    app.addConstraintStrategy({ name, storage: () => ({ get: () => null, set () {} }), validate () {}, deriveConstraint () {} })
    return true
  } catch (error) {
    return !String(error).includes('already exists a route with')
  }
}
