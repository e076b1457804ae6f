/**
 * `npm run docs`: builds the site of the documentation from the Markdown of the repository and the docstrings of the
 * packages, checks it, and serves it. With `-- --check`, it ends there, after a look at it in Chromium. `DOCS_BASE` is
 * the path below which it is served, with a slash at either end; default: `/`. The site's tools are installed when it
 * runs.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import Fastify from 'fastify'
import { home } from './home.js'
import { pages, pictures, read, ROOT, sidebar, sources } from './pages.js'

const folder = fileURLToPath(new URL('.', import.meta.url))
const { PORT = '4173', DOCS_BASE = '/' } = process.env
if (!/^\/(?:[\w.-]+\/)*$/.test(DOCS_BASE)) throw new Error('DOCS_BASE must start and end with a slash')
const time = (path) => existsSync(folder + path) ? statSync(folder + path).mtimeMs : 0
if (time('node_modules/.package-lock.json') < time('package-lock.json')) {
  execFileSync('npm', ['ci', '--no-audit', '--prefer-offline', '--ignore-scripts', '--silent'], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit']
  })
}

rmSync(`${folder}pages`, { recursive: true, force: true })
rmSync(`${folder}dist`, { recursive: true, force: true })
function write (page, text) {
  mkdirSync(dirname(`${folder}pages/${page}`), { recursive: true })
  writeFileSync(`${folder}pages/${page}`, text)
}
for (const [file, page] of pages) write(page, read(file))
write('index.md', home())
for (const [page, html] of sources()) write(`public/${page}`, html)
cpSync(`${folder}node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js`, `${folder}pages/public/mermaid.js`)
for (const [file, picture] of pictures) cpSync(ROOT + file, `${folder}pages/public/${picture}`)

const names = [...pages.keys()].flatMap((file) => /^packages\/([\w-]+)\/README\.md$/.exec(file)?.[1] ?? [])
const { writeApi } = await import('./api.js')
const api = await writeApi(names, `${folder}pages/api`)
write('sidebar.json', JSON.stringify(sidebar(api)))

const { build } = await import('vitepress')
await build(folder)
const { checkLinks } = await import('./links.js')
checkLinks(`${folder}dist`, DOCS_BASE)

const app = Fastify()
await app.register(fastifyStatic, { root: `${folder}dist`, prefix: DOCS_BASE })
const url = (await app.listen({ host: '127.0.0.1', port: Number(PORT) })) + DOCS_BASE
console.log(`The documentation: ${url}`)
if (process.argv.includes('--check')) {
  const { look } = await import('./look.ts')
  await look(
    url,
    ['', ...[...pages.values()].map((page) => page.replace(/(?:index)?\.md$/, (end) => end === '.md' ? '.html' : ''))]
  )
  process.exit()
}
