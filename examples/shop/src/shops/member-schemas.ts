import { Type } from '@sinclair/typebox'
import { Nullable, serverFields, Uuid } from '../http/schemas.ts'
import { search } from '../lists/filters.ts'
import { listRules } from '../lists/list.ts'

const Role = Type.Unsafe<'owner' | 'staff'>({
  type: 'string',
  enum: ['owner', 'staff'],
  description:
    'Owners also manage members, API keys, the payment key and settings, and see changes of these. Default: staff'
})

export const MemberInput = Type.Object({
  user_id: Uuid('A person who has signed in: the id in their GET /me'),
  role: Type.Optional(Role)
}, { additionalProperties: false })

export const MemberChanges = Type.Object({ role: Type.Optional(Role) }, { additionalProperties: false })

export const Member = Type.Object({
  id: Uuid('The id of the person'),
  shop_id: serverFields.shop_id,
  user_id: Uuid('The person'),
  name: Nullable(Type.String({ description: 'The name that they sign in with; null if no token has had it yet' })),
  active: Type.Boolean({ description: 'Inactive people are rejected everywhere' }),
  role: Role,
  created_at: serverFields.created_at,
  updated_at: serverFields.updated_at
})

export const list = listRules(Member, { sort: 'name', filters: { q: search(['name']) } })
