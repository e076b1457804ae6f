import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/*
 * Builds the static files into dist, unless they are of these sources and these libraries already: then it takes
 * milliseconds. Types are checked by `npm run check`.
 */
const here = fileURLToPath(new URL('.', import.meta.url))
const { resolve } = createRequire(import.meta.url)

/** The views of tools: each is one file, which loads nothing. */
const VIEWS = ['products', 'import']

const sources = readdirSync(join(here, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  .sort()
const files = [
  ...sources,
  ...['index.html', 'vite.config.ts', 'package.json', 'build.js'].map((name) => join(here, name))
]
const libraries = Object.keys(JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')).devDependencies).map(
  versionOf
)

const hash = createHash('sha256')
for (const file of files) hash.update(`${file.slice(here.length)}\0`).update(readFileSync(file)).update('\0')
const state = hash.update(libraries.join()).digest('hex')

const stamp = join(here, 'dist', '.built-from')
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== state) {
  const { build } = await import('vite')
  await build({ root: here, logLevel: 'warn' })
  mkdirSync(join(here, 'dist', 'views'), { recursive: true })
  for (const name of VIEWS) writeFileSync(join(here, 'dist', 'views', `${name}.html`), await viewPage(name, build))
  writeFileSync(stamp, state)
}

/** @returns the page of a view, with its script and its style in it */
async function viewPage (name, build) {
  const { output: [{ code }] } = await build({
    root: here,
    configFile: false,
    logLevel: 'warn',
    build: {
      target: 'es2022',
      write: false,
      modulePreload: false,
      rolldownOptions: { input: join(here, 'src', 'views', `${name}.ts`) }
    }
  })
  const style = readFileSync(join(here, 'src', 'views', 'view.css'), 'utf8').replace(/\/\*.*?\*\//gs, '').replace(
    /\s+/g,
    ' '
  )
  return `<!doctype html>
<html lang="en" data-origin="ORIGIN_OF_SERVER">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Shop</title>
<style>${style}</style>
</head>
<body><script type="module">${code.replaceAll('</script', '<\\/script')}</script></body>
</html>
`
}

/** @returns the installed version of a library, which may not export its package.json */
function versionOf (name) {
  const folder = resolve.paths(name).map((path) => join(path, name)).find((path) =>
    existsSync(join(path, 'package.json'))
  )
  return `${name}@${folder === undefined ? '' : JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version}`
}
