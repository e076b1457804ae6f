import { Type } from '@sinclair/typebox'
import { Currency, Metadata, Nullable, serverFields } from '../http/schemas.ts'

const settings = {
  currency: Type.String({ ...Currency, description: 'ISO 4217; the default for new products and orders' }),
  locale: Type.String({ minLength: 2, maxLength: 35, description: 'BCP 47 language tag; default en' }),
  time_zone: Type.String({ minLength: 1, maxLength: 64, description: 'IANA time zone; default UTC' }),
  contact_email: Nullable(
    Type.String({ format: 'email', maxLength: 254, description: 'E-mail address for customers; default null' })
  ),
  prices_include_tax: Type.Boolean({ description: 'Whether prices include tax; default true' }),
  confirm_agent_calls: Type.Boolean({
    description: 'Whether agents ask a person before they delete a record, where their client can; default true'
  }),
  metadata: Metadata
}

export const ShopConfigChanges = Type.Partial(Type.Object(settings), { additionalProperties: false })

export const ShopConfig = Type.Object({
  shop_id: serverFields.shop_id,
  ...settings,
  updated_at: serverFields.updated_at
})
