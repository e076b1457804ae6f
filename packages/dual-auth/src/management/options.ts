import { type Complete, FUNCTION, type Table, withoutRegistration } from '#shared/option-table'
import type { FastifyRequest } from 'fastify'
import type { Core } from '../core.ts'
import type { OnKeyChange } from '../keys/store.ts'
import { must, settingsBy } from '../option-checks.ts'

/** The four routes that create, list, rotate and revoke keys. */
export interface ManagementOptions {
  /**
   * Whether the caller, a machine or a person in `request.identity`, may manage the keys of this owner.
   * False is a 403. An error that it throws becomes the response. With `jwt: 'host'` your own sign-in knows the caller:
   * return the caller's id, which is kept as who created or revoked the key; so it is with `jwt: false`. Called before
   * the body is read.
   */
  readonly canManage: (request: FastifyRequest, ownerId: string) => boolean | string | Promise<boolean | string>
  /**
   * Called for every key that these routes create, rotate or revoke, for an audit trail.
   * `transaction` is the transaction of the change: a `Knex.Transaction` for `knexStore`, undefined for `memoryStore`.
   * Rows written in it are kept if and only if the change is. If the function throws, the change is undone and the
   * response is 503; if it throws {@link DUAL_AUTH_MANAGEMENT_FORBIDDEN}, 403.
   *
   * @default none
   */
  readonly onKeyChange?: OnKeyChange
  /** Path of the collection. It must contain the parameter that names owners, unless `owner` is set. */
  readonly path: string
  /**
   * Whose keys these are, where the path does not say: the id of the person who calls, for `/me/api-keys`, or the same
   * string for everybody, where there is one organization. Undefined or '' is a 403. An error that it throws becomes
   * the response.
   *
   * @default the owner that the path names
   */
  readonly owner?: (request: FastifyRequest) => string | undefined | Promise<string | undefined>
  /**
   * The end of the routes' operation ids: `create_api_key`. Different for each registration. @default 'api_key'
   */
  readonly operationName?: string
}

/** The options, checked and complete. */
export interface ManagementSettings extends Required<Omit<ManagementOptions, 'owner'>> {
  readonly owner: ManagementOptions['owner'] | undefined
}

const TABLE: Table<Complete<ManagementOptions, 'owner'>> = {
  canManage: { ...FUNCTION, required: true },
  onKeyChange: { ...FUNCTION, default: () => {} },
  path: {
    holds: (path) => typeof path === 'string' && path.startsWith('/') && !path.endsWith('/'),
    rule: 'must start with / and not end with it, such as /teams/:team/api-keys',
    required: true
  },
  owner: FUNCTION,
  operationName: {
    holds: (name) => typeof name === 'string' && /^[a-z]\w*$/i.test(name),
    rule: 'must consist of letters, digits and _',
    default: 'api_key'
  }
}

/**
 * @param prefix - of the instance that the routes are registered on
 * @throws {@link DUAL_AUTH_INVALID_OPTION}
 */
export function managementSettings (
  options: ManagementOptions,
  { apiKeys: { ownerParam, ownerIdFromParam }, owners, routes }: Pick<Core, 'apiKeys' | 'owners' | 'routes'>,
  prefix: string
): ManagementSettings {
  const settings = settingsBy(TABLE, withoutRegistration(options), 'management')
  const { path, owner, operationName } = settings
  must(
    !routes.some(({ schema }) => schema?.operationId === `create_${operationName}`),
    `management.operationName must be different in each registration: there is a create_${operationName} already`
  )
  const isNamed = (prefix + path).split('/').includes(`:${ownerParam}`)
  if (owner !== undefined) {
    must(!isNamed, `management.path must not contain :${ownerParam} with management.owner`)
    return settings
  }
  must(
    ownerParam !== null,
    'management.owner is required where apiKeys.ownerParam is null: nothing else says whose keys these are'
  )
  must(isNamed, `management.path must contain :${ownerParam}, or management.owner must say whose keys these are`)
  must(
    ownerIdFromParam !== undefined,
    "apiKeys.ownerIdFromParam is required with management by path: 'integer', 'uuid', 'slug', or a function that " +
      'returns the id of an owner as you store it, or undefined for what is none. Paths may spell one owner in ' +
      'several ways, such as 1 and 01'
  )
  owners.manage(prefix + path)
  return settings
}
