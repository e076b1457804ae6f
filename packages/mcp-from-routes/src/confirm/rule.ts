import type { Confirm, ConfirmFallback } from '../types.ts'

/** The question of a tool, and what happens if it cannot be asked. */
export interface ConfirmRule { readonly confirm: Confirm, readonly fallback: ConfirmFallback }

/** The argument that brings a token. */
export const TOKEN_ARGUMENT = 'confirm_token'
/** The schema of that argument, as a tool publishes it. */
export const TOKEN_SCHEMA = { type: 'string', description: 'Leave it out at first. If the answer asks for it, and the person agrees, call again with the token from that answer.' }
