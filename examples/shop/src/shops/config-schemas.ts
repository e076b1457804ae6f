import { Type } from '@sinclair/typebox'
import { Currency, Metadata, Nullable, serverFields } from '../http/schemas.ts'

const settings = {
  currency: Type.String({ ...Currency, description: 'ISO 4217: of new products and orders unless they say another; those that there are keep theirs' }),
  locale: Type.String({ minLength: 2, maxLength: 35, description: 'BCP 47 language tag; en until set' }),
  time_zone: Type.String({ minLength: 1, maxLength: 64, description: 'Name of the IANA time zone; UTC until set' }),
  contact_email: Nullable(Type.String({ format: 'email', maxLength: 254, description: 'Where customers write to; null until set' })),
  prices_include_tax: Type.Boolean({ description: 'Whether prices are gross; true until set' }),
  metadata: Metadata
}

export const ShopConfigChanges = Type.Partial(Type.Object(settings), { additionalProperties: false })

export const ShopConfig = Type.Object({ shop_id: serverFields.shop_id, ...settings, updated_at: serverFields.updated_at })
