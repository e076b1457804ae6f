import { must } from './option-checks.ts'
import type { ApiKeySettings } from './options.ts'
import { createOwnerPaths, type OwnerPaths } from './owner-paths.ts'

type OwnerSettings = Pick<ApiKeySettings, 'ownerParam' | 'ownerIdFromParam'>

/** Reads the owner of a request from the parameters of its path. */
export interface OwnerReader extends OwnerPaths {
  /** The owner's id as the host stores it; undefined if the path names no owner that the host knows. */
  fromParams(params: unknown): string | undefined
  /** Whether a path can name the owner. */
  canBeNamed(ownerId: string): boolean
  /** Whether a key of this owner may call: the path has no owner, or has this one. */
  isAllowed(params: unknown, ownerId: string): boolean
}

export function createOwnerReader ({ ownerParam, ownerIdFromParam }: OwnerSettings): OwnerReader {
  const paramOf = (params: unknown) =>
    ownerParam === null ? undefined : (params as Readonly<Record<string, string | undefined>>)[ownerParam]

  function idFromParam (param: string): string | undefined {
    // The function is the host's and may be JavaScript: a number or a promise would refuse every key, and nothing would
    // say why.
    const id: unknown = ownerIdFromParam === undefined ? param : ownerIdFromParam(param)
    if (!id) return undefined
    must(typeof id === 'string', 'apiKeys.ownerIdFromParam must return the id of the owner as a string, or undefined')
    return id
  }

  return {
    fromParams: (params) => idFromParam(paramOf(params) ?? ''),
    canBeNamed: (ownerId) => idFromParam(ownerId) === ownerId,
    isAllowed (params, ownerId) {
      const param = paramOf(params)
      return param === undefined || idFromParam(param) === ownerId
    },
    ...createOwnerPaths(ownerParam)
  }
}
