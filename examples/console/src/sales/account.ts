/** An account, as its list and page need it. */
export interface Account {
  readonly id: string
  readonly name: string
  readonly hash_name: string | null
  readonly details: Readonly<Record<string, unknown>>
  readonly created_at: string
}

/** What a payment provider says of a customer; undefined: nothing. */
export type Customer = Readonly<Record<string, unknown>> | undefined

/** What both the shop and the payment provider know of somebody. */
export const COMPARED = ['name', 'email', 'phone'] as const

/** A fact that is another one at the payment provider; undefined: there is none. */
export interface Difference {
  readonly field: typeof COMPARED[number]
  readonly here: string | undefined
  readonly there: string | undefined
}

/** A text of `details` or of a customer; undefined if it is something else, or blank. */
export function textOf (details: Customer, key: string): string | undefined {
  const value = details?.[key]
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

/** What people call the account. */
export function nameOf ({ name, details }: Account): string {
  return name.trim() === '' ? textOf(details, 'email') ?? '' : name
}

/** What of an account is another at the payment provider. E-mail addresses differ by more than their case. */
export function differencesOf ({ name, details }: Account, customer: Customer): readonly Difference[] {
  const here = { name: textOf({ name }, 'name'), email: textOf(details, 'email'), phone: textOf(details, 'phone') }
  const same = (field: typeof COMPARED[number], there: string | undefined): boolean =>
    field === 'email' ? here.email?.toLowerCase() === there?.toLowerCase() : here[field] === there
  return COMPARED.map((field) => ({ field, here: here[field], there: textOf(customer, field) })).filter((
    { field, there }
  ) => !same(field, there))
}

/** Where to write to; undefined for what is no e-mail address. */
export function mailtoOf (email: string): string | undefined {
  return /^[^\s@]+@[^\s@]+$/.test(email) ? `mailto:${encodeURIComponent(email).replace('%40', '@')}` : undefined
}

/** What to dial; undefined for what is no number. */
export function telOf (phone: string): string | undefined {
  const abroad = phone.startsWith('+') ? phone.replace('(0)', '') : phone
  return /^\+?[\d\s()./-]{3,}$/.test(abroad) ? `tel:${abroad.replace(/[^\d+]/g, '')}` : undefined
}
