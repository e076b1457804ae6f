import { invalid } from '../errors.ts'
import { MAX_METADATA } from './schemas.ts'

/**
 * @returns the metadata of a record as it is stored
 * @throws {@link SHOP_INVALID} when it is too large
 */
export function metadataText (metadata: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify(metadata)
  if (Buffer.byteLength(text) > MAX_METADATA) throw invalid('metadata', `metadata must not be larger than ${MAX_METADATA / 1024} KiB`)
  return text
}
