import { decodeJwt, errors, jwtVerify, type JWTPayload } from 'jose'
import { attempt } from '../../json.ts'
import { ASSERTION_ALGORITHMS } from '../options.ts'
import { refusal, type Refusal } from '../refusal.ts'
import type { TrustedKeys } from './issuers.ts'

const TYPE = 'oauth-id-jag+jwt'

/** In seconds: how much clocks may differ, and how long an assertion may be good for. */
export const TOLERANCE = 30
const LONGEST = 3600

/** In characters, of what a token takes over from an assertion (OpenID Connect Core §2). */
const LONGEST_NAME = 255

/** What an organization's identity provider said. */
export interface Assertion {
  readonly issuer: string
  /** The person, unique at the issuer. */
  readonly subject: string
  /** For display; nothing depends on them. */
  readonly username: string | undefined
  readonly email: string | undefined
  readonly id: string
  /** Scopes that the issuer allows; none if it names none. */
  readonly scopes: readonly string[]
  /** When it expires, in seconds since 1970. */
  readonly expires: number
}

/** What an assertion has to be for. */
interface Expected {
  /** The client that authenticated. */
  readonly client: string
  /** This server as an issuer. */
  readonly audience: string
  /** The spellings of the one resource. */
  readonly resources: readonly string[]
}

/**
 * Checks an assertion: type, algorithm, signature, every claim. That it is used once is checked elsewhere.
 *
 * @throws a {@link refusal} `invalid_grant`, `invalid_target` for another resource, or `temporarily_unavailable` while
 *   its issuer's keys cannot be read
 * @see [RFC 7523 §3](https://www.rfc-editor.org/rfc/rfc7523#section-3),
 * [draft-ietf-oauth-identity-assertion-authz-grant §4.4.1](https://datatracker.ietf.org/doc/html/draft-ietf-oauth-identity-assertion-authz-grant#section-4.4.1)
 */
export async function assertionFrom (
  text: string,
  trusted: TrustedKeys,
  { client, audience, resources }: Expected
): Promise<Assertion> {
  // Nothing is believed yet.
  const issuer = attempt(() => decodeJwt(text).iss)
  must(issuer !== undefined && trusted.has(issuer), 'its iss is not an issuer that is trusted here')
  const claims = await verified(text, issuer, trusted)
  const {
    sub,
    aud,
    iat,
    exp,
    jti,
    client_id: holder,
    resource,
    scope = '',
    cnf,
    tenant,
    preferred_username: name,
    email
  } = claims

  must(typeof iat === 'number' && typeof exp === 'number', 'iat or exp is missing or no number')
  must(iat <= Date.now() / 1000 + TOLERANCE, 'its iat is in the future')
  must(exp - iat <= LONGEST, `it is good for longer than ${LONGEST} seconds`)
  must(
    typeof sub === 'string' && /^[\x21-\x7e]+$/.test(sub) && sub.length <= LONGEST_NAME,
    `its sub is not 1 to ${LONGEST_NAME} characters of ASCII without spaces`
  )
  // RFC 7519 §4.1.3 allows lists, the draft only those of one.
  must([aud].flat().length === 1 && [aud].flat()[0] === audience, `its aud is not ${audience}`)
  must(holder === client, 'its client_id is not the client that authenticated')
  must(typeof jti === 'string' && jti !== '', 'its jti is missing or no string')
  must(typeof scope === 'string', 'its scope is no string')
  // The tokens of this server are not bound to keys, so that the proof could be left out.
  must(cnf === undefined, 'it is bound to a key (cnf), which is not supported')
  // Its sub would be unique within the tenant only.
  must(tenant === undefined, 'it is of an issuer with several tenants, which is not supported')
  if (![resource].flat().some((one) => typeof one === 'string' && resources.includes(one))) {
    throw refusal('invalid_target', `The resource of the assertion is not ${resources[0]}`)
  }

  return {
    issuer,
    subject: sub,
    username: nameFrom(name),
    email: nameFrom(email),
    id: jti,
    scopes: scope.split(' ').filter((one) => one !== ''),
    expires: exp
  }
}

function nameFrom (claim: unknown): string | undefined {
  return typeof claim === 'string' && claim !== '' && claim.length <= LONGEST_NAME ? claim : undefined
}

async function verified (text: string, issuer: string, trusted: TrustedKeys): Promise<JWTPayload> {
  const keys = trusted.of(issuer)
  if (keys === undefined) throw unreadable()
  try {
    return (await jwtVerify(text, keys, {
      typ: TYPE,
      algorithms: ASSERTION_ALGORITHMS,
      issuer,
      clockTolerance: TOLERANCE,
      currentDate: new Date(Date.now())
    })).payload
  } catch (cause) {
    if (cause instanceof errors.JWTExpired) throw refused('it has expired', cause)
    if (cause instanceof errors.JWTClaimValidationFailed) throw refused(`its ${cause.claim} is missing or wrong`, cause)
    if (FAULTS.some((Fault) => cause instanceof Fault)) {
      throw refused('it is not signed with a key of its issuer and an allowed algorithm', cause)
    }
    throw Object.assign(unreadable(), { cause })
  }
}

/** Of an assertion. All other errors are about reading keys. */
const FAULTS = [
  errors.JOSEAlgNotAllowed,
  errors.JOSENotSupported,
  errors.JWSInvalid,
  errors.JWTInvalid,
  errors.JWSSignatureVerificationFailed,
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys
]

const unreadable = (): Refusal =>
  refusal(
    'temporarily_unavailable',
    'The keys of the issuer of the assertion cannot be read. Try again in a moment',
    503
  )

function refused (reason: string, cause?: unknown): Refusal {
  return Object.assign(
    refusal('invalid_grant', `The assertion was refused: ${reason}`),
    cause !== undefined && { cause }
  )
}

function must (condition: boolean, reason: string): asserts condition {
  if (!condition) throw refused(reason)
}
