import type { Cell } from '../catalog/product-file.ts'
import { slugFromName } from '../records/slug.ts'
import { becomes, type Note } from './notes.ts'
import { isHtml, textOfHtml } from './text-of-html.ts'

/** What a cell of another system says in the words of a product. */
export interface Reading {
  readonly cell: Cell
  /** What somebody should know of it. */
  readonly note?: Note
}

/** An address becomes a slug as names do. One that no letter of a slug is left of says nothing. */
export function slugFromAddress (address: string): Reading {
  const slug = slugOf(address)
  // An empty one, or a slug already.
  if (address === '' || slug === address) return { cell: address }
  return slug === undefined
    ? { cell: null, note: { kind: 'noSlug', example: JSON.stringify(address) } }
    : { cell: slug, note: { kind: 'slug', example: becomes(address, slug) } }
}

/** @returns the slug of a product whose address and name have no letter of one */
export function slugFromSku (
  { name, sku }: { readonly name?: unknown, readonly sku?: unknown }
): { readonly slug?: string } {
  if (typeof name !== 'string' || slugOf(name) !== undefined || typeof sku !== 'string') return {}
  const slug = slugOf(sku)
  return slug === undefined ? {} : { slug }
}

/** @returns undefined if nothing of the text can be transliterated */
export function slugOf (text: string): string | undefined {
  try {
    return slugFromName(text)
  } catch {
    return undefined
  }
}

/** Any status but those of a product here, and unlisted, is left for the schema to refuse. */
export function statusOfShopify (cell: string): Reading {
  const status = cell.toLowerCase()
  return status === 'unlisted' ? { cell: 'draft', note: { kind: 'unlisted' } } : { cell: status }
}

/** @param cell - whether the product is on sale */
export function statusOfOnline (cell: string): Reading {
  return { cell: { 1: 'active', 0: 'draft', '-1': 'draft' }[cell] ?? cell }
}

/** @param keepsLines - whether the system means line breaks beside HTML */
export function textFromHtml (cell: string, keepsLines = false): Reading {
  if (!isHtml(cell)) return { cell }
  return { cell: textOfHtml(cell, keepsLines) || null, note: { kind: 'html' } }
}

/** WooCommerce writes the line breaks of a description as `\\n`. */
export function textFromWooCommerce (cell: string): Reading {
  return textFromHtml(cell.replaceAll('\\n', '\n'), true)
}
