import { texts } from '../texts.ts'

/** Whether a shop has a payment key, and whether the server can read it. */
export type PayState = 'none' | 'set' | 'unreadable'

export function payStateOf (
  { configured, readable }: { readonly configured: boolean, readonly readable: boolean | null }
): PayState {
  if (!configured) return 'none'
  return readable === true ? 'set' : 'unreadable'
}

/** What the settings say of it. */
export const PAY_STATES: Readonly<Record<PayState, string>> = {
  none: texts.settings.payNone,
  set: texts.settings.paySet,
  unreadable: texts.settings.payUnreadable
}
