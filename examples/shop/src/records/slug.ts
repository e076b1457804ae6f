import slugify from '@sindresorhus/slugify'
import { invalid } from '../errors.ts'

/** The maximum length of slugs and codes in their schemas. */
const MAX_LENGTH = 200

/**
 * @param separator - between words
 * @returns the name in ASCII, transliterated
 * @throws {@link SHOP_INVALID} about `field` if nothing of the name can be transliterated
 */
export function slugFromName (name: string, field: 'slug' | 'code' = 'slug', separator: '-' | '_' = '-'): string {
  const slug = slugify(name, { separator }).slice(0, MAX_LENGTH).replace(/[-_]$/, '')
  if (slug === '') throw invalid(field, `${field} cannot be derived from the name ${JSON.stringify(name)}: set it`)
  return slug
}
