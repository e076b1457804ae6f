import { OAUTH_DISCOVERY_SHIM_OAUTH } from './errors.ts'

/** An error with the code that OAuth has for it. */
export interface Refusal extends Error {
  readonly statusCode: number
  readonly code: string
  /** Of RFC 6749 §4.1.2.1 and §5.2, RFC 7591 §3.2.2 or RFC 8707 §2. */
  readonly oauth: string
}

/** @param description - ASCII without quotes and backslashes (RFC 6749 §5.2) */
export function refusal (oauth: string, description: string, statusCode = 400): Refusal {
  return Object.assign(new OAUTH_DISCOVERY_SHIM_OAUTH(description), { oauth, statusCode })
}

export function isRefusal (error: unknown): error is Refusal {
  return error instanceof Error && 'oauth' in error
}

/** The body of an error at an endpoint for programs. */
export function bodyOf ({ statusCode, code, oauth, message }: Refusal): object {
  return { statusCode, code, error: oauth, message, error_description: message }
}
