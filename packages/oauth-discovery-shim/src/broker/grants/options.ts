import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import { FUNCTION, isFilled, OBJECT, type Table } from '#shared/option-table'
import { must, settingsBy } from '../../option-checks.ts'
import type { GrantStore } from './store.ts'

/** A person, as a token names them. */
export interface GrantHolder {
  /** Compared with the option `issuer`: at another issuer, the same subject is somebody else. */
  readonly issuer: string
  readonly subject: string
}

/** A record of which clients people have let in, and routes to see and end them. */
export interface GrantOptions {
  readonly store: GrantStore
  /**
   * Whose grants the caller of the routes may see and end: issuer and subject of their own token. With a function as
   * `subjectClaim`, the string that it makes. Undefined for whoever is no person, such as a machine, which is a 403. An
   * error that it throws becomes the response.
   */
  readonly whose: (request: FastifyRequest) => Whose | Promise<Whose>
  /**
   * The claim of access tokens, or else of ID tokens, that has the subject of {@link GrantOptions.whose}; or what makes
   * the string that it returns of all claims, undefined if they do not say it. Default `sub`.
   */
  readonly subjectClaim?: string | ((claims: Readonly<Record<string, unknown>>) => string | undefined)
  /** Route `config` of the two routes, which must not be public. Default `{}`. */
  readonly config?: FastifyContextConfig
}

type Whose = GrantHolder | string | null | undefined

/** Options, checked and complete. */
export interface GrantSettings extends Required<GrantOptions> {
  /** That of people's tokens. */
  readonly issuer: string
}

const STORE = ['record', 'list', 'find', 'end']

const TABLE: Table<Required<GrantOptions>> = {
  store: {
    holds: (store) => STORE.every((method) => typeof Object(store)[method] === 'function'),
    rule: 'must be a store with the methods record, list, find and end',
    secret: true,
    required: true
  },
  whose: { ...FUNCTION, rule: 'must be a function that says whose grants the caller may see', required: true },
  subjectClaim: {
    holds: (claim) => typeof claim === 'function' || isFilled(claim),
    rule: 'must be the name of a claim, or a function of the claims',
    default: 'sub'
  },
  config: { ...OBJECT, default: {} }
}

/**
 * Checks the options and fills in defaults.
 *
 * @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION}
 */
export function grantSettings (options: GrantOptions, issuer: string, hasStore: boolean): GrantSettings {
  const settings = settingsBy(TABLE, options, 'grants')
  must(
    !issuer.includes('{tenantid}') || typeof settings.subjectClaim === 'function',
    'grants.subjectClaim must be a function with an issuer of several tenants: it makes the name of iss and of the ' +
      'claim, as two tenants may use one value for two people'
  )
  must(hasStore, 'grants needs the option store: a process alone would forget at a restart which sign-ins were ended')
  return { ...settings, issuer }
}
