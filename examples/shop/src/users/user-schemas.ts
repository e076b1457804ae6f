import { type Static, Type } from '@sinclair/typebox'
import { Name, Nullable, serverFields, Uuid } from '../http/schemas.ts'
import { decision } from './key-decision.ts'
import { holding, search } from '../lists/filters.ts'
import { listRules } from '../lists/list.ts'

const Role = Type.Unsafe<'admin'>({ type: 'string', enum: ['admin'], description: 'admin reaches all shops' })
const Roles = Type.Array(Role, { uniqueItems: true, maxItems: 10, description: 'Roles beyond their memberships' })
const Active = Type.Boolean({ description: 'Inactive people are rejected, even with a valid token' })

export const UserChanges = Type.Object({
  name: Type.Optional(Name),
  active: Type.Optional(Active),
  roles: Type.Optional(Roles),
  keys: Type.Optional(decision.keys),
  keys_to: Type.Optional(decision.keys_to)
}, { additionalProperties: false })

export type Changes = Static<typeof UserChanges>

/** A person as they see themselves. */
export const Me = Type.Object({
  id: Uuid('Set by the server'),
  subject: Type.String({ description: 'The sub claim of their tokens' }),
  name: Nullable(Type.String({ description: 'The name that they sign in with; null if no token has had it yet' })),
  active: Active,
  roles: Type.Array(Type.String(), { description: 'admin reaches all shops' })
})

export const User = Type.Object({
  ...Me.properties,
  created_at: serverFields.created_at,
  updated_at: serverFields.updated_at
})

const withRole = holding('roles', Role, 'text[]')

export const list = listRules(User, {
  sort: 'name',
  filters: { q: search(['name', 'subject']), role: withRole, roles: withRole }
})
