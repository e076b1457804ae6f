import type { FastifySchemaValidationError } from 'fastify'
import { excerpt } from '#shared/excerpt'
import { type ListField, listQueryFrom, type ListRules, type RawQuery } from '#shared/list-grammar'
import { keyName } from '../keys/key-name.ts'
import type { KeyField, KeyQuery } from '../keys/store.ts'

const FIELDS = {
  id: { kind: 'uuid' },
  name: { kind: 'string' },
  prefix: { kind: 'string' },
  created_at: { kind: 'instant' },
  created_by: { kind: 'string' },
  last_used_at: { kind: 'instant', nullable: true },
  last_used_network: { kind: 'string', nullable: true },
  expires_at: { kind: 'instant', nullable: true },
  revoked_at: { kind: 'instant', nullable: true },
  replaces: { kind: 'uuid', nullable: true },
  replaced_by: { kind: 'uuid', nullable: true },
  scopes: { kind: 'strings' }
} satisfies Readonly<Record<KeyField | 'scopes', ListField>>

/** The default limit is enough for all active keys of an owner, unless `maxPerOwner` is raised. */
export const KEY_LIST: ListRules = {
  fields: FIELDS,
  conditions: {
    status: { kind: 'string', words: ['active', 'expired', 'revoked'] },
    revoked: { kind: 'boolean' },
    q: { kind: 'string' }
  },
  defaultLimit: 100,
  maxLimit: 1000,
  refuse: (path, message) => Object.assign(new Error(message), { path })
}

/** What the query says; the time is that of the request. */
export type RawKeyQuery = Omit<KeyQuery, 'at'>

/** Validates the query of the list as a schema validator would, so that the host's own formatter words the error. */
export function validatedKeyQuery (
  query: RawQuery,
  parameters: readonly string[]
): { value: RawKeyQuery } | { error: FastifySchemaValidationError[] } {
  const unknown = Object.keys(query).find((name) => !parameters.includes(name))
  if (unknown !== undefined) return { error: [faultAt([excerpt(unknown)], 'is not a known parameter')] }
  try {
    return { value: inOneSpelling(listQueryFrom(query, KEY_LIST) as RawKeyQuery) }
  } catch (error) {
    const { path, message } = error as Error & { path?: readonly string[] }
    if (path === undefined) throw error
    return { error: [faultAt(path, message)] }
  }
}

/**
 * Names are compared as they are stored. Those of older keys may be stored otherwise. What `q` finds is up to the
 * store.
 */
function inOneSpelling ({ filter: { name, ...filter }, ...query }: RawKeyQuery): RawKeyQuery {
  return {
    ...query,
    filter: {
      ...filter,
      ...name !== undefined &&
        { name: [...new Set(name.flatMap((value) => value === null ? [value] : [value, keyName(value)]))] }
    }
  }
}

function faultAt (path: readonly string[], message: string): FastifySchemaValidationError {
  const pointer = path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  return { keyword: 'list', instancePath: pointer, schemaPath: `#/properties${pointer}`, params: {}, message }
}
