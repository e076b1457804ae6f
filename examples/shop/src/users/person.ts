import type { UserIdentity } from 'dual-auth'
import { TENANT } from '../settings/mistakes.ts'
import type { Settings } from '../settings/settings.ts'

/** Reads what a person is known by in the identity that a token proves. */
export type PersonReader = (identity: Pick<UserIdentity, 'issuer' | 'subject'>) => string

/**
 * What a person is known by, here and in `users.subject`: the subject of their tokens. Where the issuer stands for several
 * tenants, the tenant's own issuer is in front, as it is for the people of other issuers whose assertions this server takes:
 * no tenant can then name somebody of another one.
 */
export function personReader ({ IDP_ISSUER, PUBLIC_BASE_URL }: Pick<Settings, 'IDP_ISSUER' | 'PUBLIC_BASE_URL'>): PersonReader {
  if (!IDP_ISSUER.includes(TENANT)) return ({ subject }) => subject
  const own = `${new URL(PUBLIC_BASE_URL).origin}/oauth`
  return ({ issuer, subject }) => issuer === own ? subject : `${issuer}#${encodeURIComponent(subject)}`
}
