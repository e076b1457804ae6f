import { Type } from '@sinclair/typebox'
import { invalid } from '../errors.ts'
import { verbatim } from './text.ts'

/**
 * The pictures of a product. {@link refuseUnsafeImages} checks the form of each URL: a pattern would not say what is
 * wrong.
 */
export const ImageUrls = Type.Array(verbatim(Type.String({ maxLength: 1000 })), {
  maxItems: 10,
  description: 'Pictures, the main one first: https URLs, or paths of this server'
})

/** Any: a path is checked as part of a URL. */
const HERE = 'https://here.invalid'

/** What no URL has: blanks, what is not seen, and what ends an attribute of HTML or an element of a list. */
const NEVER = /[\s\p{C}\\"<>]/u

/**
 * Pictures are loaded by the browsers of other people: only over https, and without a password. The only other form is
 * a path of this server.
 *
 * @throws {@link SHOP_INVALID} about the first URL that is of neither form, or appears twice: `image_urls/2`
 */
export function refuseUnsafeImages (
  { image_urls: urls = [] }: { readonly image_urls?: readonly string[] | undefined }
): void {
  const seen = new Set<string>()
  for (const [index, url] of urls.entries()) {
    const field = `image_urls/${index}`
    const why = misuse(url)
    if (why !== undefined) throw invalid(field, `${field} ${why}`)
    const { href } = new URL(url, HERE)
    if (seen.has(href)) throw invalid(field, `${field} appears twice`)
    seen.add(href)
  }
}

/** @returns what is wrong with a URL of a picture; undefined if nothing is */
function misuse (url: string): string | undefined {
  if (NEVER.test(url)) return 'must not contain blanks, control characters, quotes, < > or \\: percent-encode them'
  // Every browser reads it as it is written: not //host, and nothing with a dot for a folder.
  if (url.startsWith('/')) {
    return URL.canParse(url, HERE) && new URL(url, HERE).href === HERE + url
      ? undefined
      : 'must be a path such as /pictures/kettle.svg: without //, . and .., and percent-encoded'
  }
  if (!/^https:\/\/[^/]/i.test(url) || !URL.canParse(url)) {
    return 'must be an https URL, such as https://cdn.example.com/kettle.jpg, or a path of this server that starts ' +
      'with /'
  }
  const { username, password } = new URL(url)
  return username === '' && password === '' ? undefined : 'must not contain a user name or password'
}
