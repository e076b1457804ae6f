import slugify from '@sindresorhus/slugify'
import { invalid } from '../errors.ts'

/** As long as the schemas of slugs and codes allow. */
const MAX_LENGTH = 200

/**
 * @param separator - what stands between words
 * @returns the name in ASCII, transliterated
 * @throws {@link SHOP_INVALID} about `field` when nothing of the name can be written so
 */
export function slugFromName (name: string, field: 'slug' | 'code' = 'slug', separator: '-' | '_' = '-'): string {
  const slug = slugify(name, { separator }).slice(0, MAX_LENGTH).replace(/[-_]$/, '')
  if (slug === '') throw invalid(field, `${field} cannot be made from the name ${JSON.stringify(name)}: give one`)
  return slug
}
