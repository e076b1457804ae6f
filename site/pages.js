import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
export const read = (path) => readFileSync(ROOT + path, 'utf8')
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8'
}).trim().split('\n').filter((path) => existsSync(ROOT + path))

/** The path of each page in the site, by its file in the repository. */
export const pages = new Map(files.flatMap((file) => {
  const [, name] = /^(?:packages|examples)\/([\w-]+)\/README\.md$/.exec(file) ?? []
  if (name !== undefined) return [[file, `${name}/index.md`]]
  if (file === 'README.md') return [[file, 'overview.md']]
  if (file === 'docs/README.md') return [[file, 'docs.md']]
  if (file === 'CONTRIBUTING.md' || file === 'SECURITY.md') return [[file, file.toLowerCase()]]
  const [, owner, page] = /^packages\/([\w-]+)\/docs\/(.*\.md)$/.exec(file) ?? []
  if (owner !== undefined) return [[file, `${owner}/${page}`]]
  return /^docs\/.*\.md$/.test(file) ? [[file, file.slice('docs/'.length)]] : []
}))
const fileOf = new Map([...pages].map(([file, page]) => [page, file]))

/** The path of each picture in the site, by its file in the repository. */
export const pictures = new Map(files.flatMap((file) => {
  const [, owner = '', picture] = /^(?:packages\/([\w-]+\/))?docs\/(.*\.png)$/.exec(file) ?? []
  return picture === undefined ? [] : [[file, owner + picture]]
}))

/** Where the site shows a file of the repository that is no page, or lists a folder. */
const sourcePage = (path) => `source/${path.replaceAll(/(^|\/)\./g, '$1_')}.html`

/** What the pages link to without being pages: each becomes one without the site's layout, `{ page, html }`. */
export function sources () {
  const found = new Map()
  for (const file of pages.keys()) {
    for (const [, link] of read(file).replaceAll(/^```[^]*?^```/gm, '').matchAll(/\]\(([^)#]+)[^)]*\)/g)) {
      const target = targetOf(file, link)
      if (target !== undefined && pageOf(target) === undefined && !pictures.has(target)) {
        found.set(sourcePage(target), sourceHtml(target))
      }
    }
  }
  return found
}

function sourceHtml (path) {
  const content = statSync(ROOT + path).isDirectory()
    ? files.filter((file) => file.startsWith(`${path}/`)).map((file) => file.slice(path.length + 1)).join('\n')
    : read(path)
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" ' +
    'content="width=device-width"><meta name="color-scheme" content="light dark"><link rel="icon" ' +
    `href="data:,"><title>${path}</title><h1>${path}</h1><pre style="white-space: pre-wrap; overflow-wrap: ` +
    `anywhere">${escaped}</pre></html>\n`
}

/** What a link in a file means in the repository; undefined for addresses and anchors. */
function targetOf (file, link) {
  if (/^(?:[a-z]+:|#)/.test(link)) return undefined
  const target = posix.join(posix.dirname(file), link).replace(/\/$/, '')
  if (!existsSync(ROOT + target)) throw new Error(`${file}: ${link} leads nowhere`)
  return target
}

const pageOf = (target) => pages.get(target) ?? pages.get(`${target}/README.md`)

/**
 * Rewrites the links and pictures of a page, which are relative to its file in the repository, to those of the site.
 */
export function siteLinks (md) {
  md.core.ruler.push('site-links', ({ tokens, env: { relativePath } }) => {
    const file = fileOf.get(relativePath)
    if (file === undefined) return
    for (const token of tokens) if (token.children !== null) token.children = withNamedPages(token.children)
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const name = { link_open: 'href', image: 'src' }[token.type]
      if (name === undefined) continue
      const [path, anchor] = token.attrGet(name).split('#')
      if (path.startsWith('/')) continue
      const target = path === '' ? undefined : targetOf(file, decodeURI(path))
      if (target === undefined) continue
      const page = pictures.get(target) ?? pageOf(target) ?? sourcePage(target)
      if (page.endsWith('.html')) token.attrSet('target', '_self')
      token.attrSet(name, `/${page}${anchor === undefined ? '' : `#${anchor}`}`)
    }
  })
}

/**
 * Pages of a package name those outside it as `docs/lists.md` or `dual-auth/docs/policies.md`: who installs the package
 * does not have these files. On the site such names are links.
 */
function withNamedPages (tokens) {
  let isLink = false
  return tokens.flatMap((token) => {
    if (token.type.startsWith('link_')) isLink = token.type === 'link_open'
    const page = token.type === 'code_inline' && (pages.get(token.content) ?? pages.get(`packages/${token.content}`))
    if (!page || isLink) return [token]
    const [open, close] = [new token.constructor('link_open', 'a', 1), new token.constructor('link_close', 'a', -1)]
    open.attrSet('href', `/${page}`)
    return [open, token, close]
  })
}

/** The heading of a page. */
const headingOf = (file) => /^# (.+)$/m.exec(read(file))[1].replaceAll('`', '')

/**
 * The navigation is the tables of docs/README.md: a group for each heading, and one for each package.
 *
 * @param api - the pages of the API reference, by package
 */
export function sidebar (api) {
  const groups = []
  for (const section of read('docs/README.md').split(/^## /m).slice(1)) {
    const [title] = section.split('\n', 1)
    const rows = section.split('\n').filter((line) => line.startsWith('|')).map((line) =>
      [...line.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)].map(([, text, link]) =>
        itemOf(text, targetOf('docs/README.md', link))
      )
    )
    const ofPackages = rows.filter(([first]) => first !== undefined && first.link.endsWith('/') && api.has(first.text))
    if (ofPackages.length > 0) {
      for (const [{ text, link }, ...items] of ofPackages) {
        groups.push({
          text,
          link,
          collapsed: true,
          items: [{ text: 'Overview', link }, ...items.map(capital), {
            text: 'Types and functions',
            collapsed: true,
            items: api.get(text)
          }]
        })
      }
    } else if (rows.flat().length > 0) groups.push({ text: title, items: rows.flat().map(capital) })
  }
  const about = [
    { text: 'All types and functions', link: '/api/' },
    ...['README.md', 'docs/README.md', 'CONTRIBUTING.md', 'SECURITY.md'].map((file) => itemOf('.md', file))
  ]
  return [...groups, { text: 'This repository', items: about }]
}

const capital = ({ text, link }) => ({ text: text[0].toUpperCase() + text.slice(1), link })

function itemOf (text, file) {
  return {
    text: /\.md$|README/.test(text) ? headingOf(file) : text,
    link: `/${pages.get(file).replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '')}`
  }
}
