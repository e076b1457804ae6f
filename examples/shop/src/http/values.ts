import { invalid } from '../errors.ts'
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
  if (currency !== undefined && !CODES.has(currency)) throw invalid('currency', 'currency must be an ISO 4217 code, such as EUR')
}

/** @throws {@link SHOP_INVALID} about `metadata` */
export function refuseLargeMetadata ({ metadata }: { readonly metadata?: Readonly<Record<string, unknown>> | undefined }): void {
  if (metadata !== undefined && Buffer.byteLength(JSON.stringify(metadata)) > MAX_METADATA) throw invalid('metadata', `metadata must not be larger than ${MAX_METADATA / 1024} KiB`)
}
