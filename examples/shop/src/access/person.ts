import type { MachineIdentity, UserIdentity } from 'dual-auth'
import type { FastifyRequest } from 'fastify'
import { TENANT } from '../settings/mistakes.ts'
import type { Settings } from '../settings/settings.ts'

/** Reads what a person is known by in the identity that a token proves. */
export type PersonReader = (identity: Pick<UserIdentity, 'issuer' | 'subject'>) => string

/**
 * What a person is known by, here and in `users.subject`: the subject of their tokens. Where the issuer stands for
 * several tenants, the tenant's own issuer is in front, as it is for the people of other issuers whose assertions this
 * server takes: no tenant can then name somebody of another one. Nor can the identity provider name somebody of these
 * other issuers.
 */
export function personReader (
  { IDP_ISSUER, PUBLIC_BASE_URL, OAUTH_BROKER_ASSERTION_ISSUERS: others }: Pick<
    Settings,
    'IDP_ISSUER' | 'PUBLIC_BASE_URL' | 'OAUTH_BROKER_ASSERTION_ISSUERS'
  >
): PersonReader {
  const hasTenants = IDP_ISSUER.includes(TENANT)
  const own = `${new URL(PUBLIC_BASE_URL).origin}/oauth`
  return ({ issuer, subject }) => {
    const isPlain = issuer === own || !(hasTenants || others.some((other) => subject.startsWith(`${other}#`)))
    return isPlain ? subject : `${issuer}#${encodeURIComponent(subject)}`
  }
}

/** What a machine is known by: its client id, with the tenant's issuer in front where there are several. */
export function machineOf ({ server }: FastifyRequest, { issuer, clientId }: MachineIdentity): string {
  return server.personOf({ issuer, subject: clientId })
}

/** The person or machine whose token came with the request; undefined for API keys and on public routes. */
export function holderOf (request: FastifyRequest): string | undefined {
  const { identity, server } = request
  if (identity?.kind === 'user') return `user:${server.personOf(identity)}`
  return identity?.kind === 'machine' ? `machine:${machineOf(request, identity)}` : undefined
}
