import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

const text = (attribute) =>
  decodeURI(attribute.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"'))

/**
 * Every link of the built pages leads to a file and an anchor, and the navigation to every page.
 *
 * @param base - the path below which they are served
 * @throws naming those that do not
 */
export function checkLinks (dist, base) {
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' })
  const pages = new Map(
    files.filter((file) => file.endsWith('.html') && file !== '404.html').map((
      file
    ) => [`/${file}`, readFileSync(`${dist}/${file}`, 'utf8')])
  )
  const anchors = new Map(
    [...pages].map(([page, html]) => [page, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => text(id)))])
  )
  const linksOf = (page) =>
    [...pages.get(page).matchAll(/<(?:a|img)\s[^>]*?(?:href|src)="([^"]*)"/g)].map(([, link]) => text(link))
      .filter((link) => !/^(?:[a-z]+:)/.test(link))
      .map((link) => link.startsWith(base) ? `/${link.slice(base.length)}` : link)
  const targetOf = (page, link) => {
    const [path, anchor] = link.split('#')
    const file = path === ''
      ? page
      : posix.join(
        posix.dirname(page),
        path.startsWith('/') ? posix.relative(posix.dirname(page), path) + (path.endsWith('/') ? '/' : '') : path
      )
    return { file: file.endsWith('/') ? `${file}index.html` : file, anchor }
  }
  const wrong = []
  for (const page of pages.keys()) {
    for (const link of linksOf(page)) {
      const { file, anchor } = targetOf(page, link)
      if (!files.includes(file.slice(1))) wrong.push(`${page}: ${link} leads nowhere`)
      else if (anchor && !anchors.get(file)?.has(anchor)) wrong.push(`${page}: ${link} has no such heading`)
    }
  }
  const named = new Set(linksOf('/overview.html').map((link) => targetOf('/overview.html', link).file))
  for (const page of pages.keys()) {
    if (!named.has(page) && !page.startsWith('/source/')) {
      wrong.push(`${page}: no link in the navigation; docs/README.md makes it`)
    }
  }
  if (wrong.length > 0) throw new Error(`\n${[...new Set(wrong)].join('\n')}`)
}
