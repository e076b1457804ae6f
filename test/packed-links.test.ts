import { readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join, posix } from 'node:path'
import t from 'tap'

const packages = fileURLToPath(new URL('../packages/', import.meta.url))

/** npm packs what `files` lists, without the files of these names that it always packs. */
const ALWAYS = /^(?:package\.json|readme\.md|license)$/i

/** The files of a package that somebody gets who installs it. */
function packedFiles (folder: string): ReadonlySet<string> {
  const { files: listed } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return new Set(
    readdirSync(folder).filter((name) => ALWAYS.test(name) || listed.includes(name)).flatMap((name) =>
      statSync(join(folder, name)).isDirectory()
        ? readdirSync(join(folder, name), { recursive: true, encoding: 'utf8' }).map((path) => posix.join(name, path))
        : [name]
    )
  )
}

/** The targets of a page's links that are neither addresses nor headings of the same page. */
function linksOf (page: string): readonly string[] {
  return [...page.replace(/^(`{3,})[^]*?^\1/gm, '').matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, link]) => link!)
    .filter((link) => !/^[a-z]+:/.test(link))
}

for (const name of readdirSync(packages)) {
  t.test(`every link in the pages of ${name} works where only the package is installed`, async (t) => {
    const folder = join(packages, name)
    const packed = packedFiles(folder)
    const pages = [...packed].filter((path) => path.endsWith('.md'))
    t.ok(pages.includes('README.md') && pages.some((path) => path.startsWith('docs/')))
    const wrong = pages.flatMap((page) =>
      linksOf(readFileSync(join(folder, page), 'utf8'))
        .filter((link) => !packed.has(posix.join(posix.dirname(page), link)))
        .map((link) => `${page}: ${link}`)
    )
    t.strictSame(wrong, [])
  })
}
