import { Type } from '@sinclair/typebox'
import { Nullable, serverFields, Uuid } from '../http/schemas.ts'
import { search } from '../lists/filters.ts'
import { listRules } from '../lists/list.ts'

const Role = Type.Unsafe<'owner' | 'staff'>({
  type: 'string', enum: ['owner', 'staff'], description: 'Owners manage the members, API keys and the payment key, and see what was changed; for the rest staff may do the same. staff when left out'
})

export const MemberInput = Type.Object({
  user_id: Uuid('A person who has signed in: what GET /me tells them as their id'),
  role: Type.Optional(Role)
}, { additionalProperties: false })

export const MemberChanges = Type.Object({ role: Type.Optional(Role) }, { additionalProperties: false })

export const Member = Type.Object({
  id: Uuid('Of the membership in this shop: that of the person'),
  shop_id: serverFields.shop_id,
  user_id: Uuid('The person'),
  name: Nullable(Type.String({ description: 'What they sign in with; null when no token has told it yet' })),
  active: Type.Boolean({ description: 'Those who are not active are refused everywhere' }),
  role: Role,
  created_at: serverFields.created_at,
  updated_at: serverFields.updated_at
})

export const list = listRules(Member, { sort: 'name', filters: { q: search(['name']) } })
