import { invalid } from '../errors.ts'
import { digitsOf } from './money.ts'
import { MAX_METADATA } from './schemas.ts'

/** Codes of ISO 4217 that `Intl` does not list, or not everywhere yet: units of account, and the newest currencies. */
const UNLISTED = ['BOV', 'CHE', 'CHW', 'CLF', 'COU', 'MXV', 'USN', 'UYI', 'UYW', 'VED', 'XAD', 'XCG', 'XUA', 'ZWG']

const CODES: ReadonlySet<string> = new Set([...Intl.supportedValuesOf('currency'), ...UNLISTED])

/**
 * Rejects unknown currencies, in which no price would ever be found. Schemas check only the form, since a list of all
 * currencies would be most of what an agent reads of a tool.
 *
 * @throws {@link SHOP_INVALID} about `currency`
 * @see [ISO 4217](https://www.iso.org/iso-4217-currency-codes.html)
 */
export function refuseUnknownCurrency ({ currency }: { readonly currency?: string | undefined }): void {
  if (currency !== undefined && !CODES.has(currency)) {
    throw invalid('currency', 'currency must be an ISO 4217 code, such as EUR')
  }
}

/**
 * An amount is in minor units: the same one in a currency of other decimals is another price.
 *
 * @param before - the record that the changes are for
 * @throws {@link SHOP_INVALID} about the amount, if the currency changes without it
 */
export function refuseOtherDecimals<Name extends string> (
  name: Name,
  before: Readonly<Record<Name, number | null>> & { readonly currency: string },
  changes: Readonly<Partial<Record<Name | 'currency', unknown>>>
): void {
  const { currency } = changes as { readonly currency?: string }
  // Nothing is nothing in every currency.
  if (
    currency === undefined || changes[name] !== undefined || !before[name] ||
    digitsOf(currency) === digitsOf(before.currency)
  ) return
  throw invalid(name, `${name} is required with this currency: ${currency} has other decimals than ${before.currency}`)
}

/** @throws {@link SHOP_INVALID} about `metadata` */
export function refuseLargeMetadata (
  { metadata }: { readonly metadata?: Readonly<Record<string, unknown>> | undefined }
): void {
  if (metadata !== undefined && Buffer.byteLength(JSON.stringify(metadata)) > MAX_METADATA) {
    throw invalid('metadata', `metadata must not be larger than ${MAX_METADATA / 1024} KiB`)
  }
}
