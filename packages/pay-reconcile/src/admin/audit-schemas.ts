import { Type, type Static } from '@sinclair/typebox'
import { AUDIT_ACTIONS } from '../types.ts'
import { Id, JsonObject, NullableString, oneOf, Timestamp } from './schemas.ts'

const AuditedDetails = Type.Object({
  pay_customer_id: NullableString,
  pay_synced_at: NullableString,
  snapshot_sha256: NullableString
})

export const AuditEntrySchema = Type.Object({
  id: Type.String({ description: 'UUID' }),
  at: Timestamp,
  actor: Type.String({ description: 'Who changed the account' }),
  action: oneOf(AUDIT_ACTIONS),
  account_id: Id,
  shop_id: Id,
  run_id: NullableString,
  before: AuditedDetails,
  after: AuditedDetails,
  provider_request_id: NullableString,
  request_id: NullableString,
  snapshot_kept: Type.Boolean({ description: 'Whether the snapshot that this change replaced can be read back' })
})

/** A change of an account in a response. */
export type AuditBody = Static<typeof AuditEntrySchema>

export const ReplacedSnapshotSchema = Type.Object({
  audit_id: Type.String(),
  account_id: Id,
  pay_customer_id: NullableString,
  pay_customer: JsonObject,
  replaced_at: Timestamp
})
