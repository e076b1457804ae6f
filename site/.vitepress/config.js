import { readFileSync } from 'node:fs'
import { bundledLanguages } from 'shiki/langs'
import { defineConfig } from 'vitepress'
import { siteLinks } from '../pages.js'
import { search } from '../search.js'
import { namedCells } from '../tables.js'

/** As GitHub makes the anchors of headings. */
const slugify = (heading) => heading.trim().toLowerCase().replace(/[^\p{L}\p{N}\- _]/gu, '').replaceAll(' ', '-')

/** What else code blocks are named; others have no colours. */
const LANGUAGES = { env: 'dotenv' }

export default defineConfig({
  title: 'Routes for agents',
  description: 'Routes of a Fastify API become tools of AI agents, over the Model Context Protocol.',
  lang: 'en',
  base: process.env.DOCS_BASE ?? '/',
  srcDir: 'pages',
  outDir: 'dist',
  cacheDir: 'node_modules/.cache/vitepress',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    anchor: { slugify },
    languageAlias: LANGUAGES,
    config (md) {
      siteLinks(md)
      namedCells(md)
      const { fence } = md.renderer.rules
      md.renderer.rules.fence = (tokens, index, ...rest) => {
        const { info, content } = tokens[index]
        const [language] = info.split(' ')
        if (language === 'mermaid') return `<Diagram source="${encodeURIComponent(content)}" />`
        if (!(language in bundledLanguages || language in LANGUAGES)) tokens[index].info = 'txt'
        return fence(tokens, index, ...rest)
      }
      // Vue would take it for an expression.
      for (const name of ['text', 'code_inline']) {
        const rule = md.renderer.rules[name]
        md.renderer.rules[name] = (...all) => rule(...all).replaceAll('{{', '&#123;&#123;')
      }
    }
  },
  // links.js looks at all of them, and at anchors.
  ignoreDeadLinks: true,
  vite: { build: { chunkSizeWarningLimit: 1500, reportCompressedSize: false } },
  themeConfig: {
    search: { provider: 'local', options: search },
    outline: [2, 3],
    nav: [
      { text: 'Tour', link: '/tour' },
      { text: 'Documentation', link: '/docs' },
      { text: 'Troubleshooting', link: '/troubleshooting' }
    ],
    sidebar: JSON.parse(readFileSync(new URL('../pages/sidebar.json', import.meta.url), 'utf8'))
  }
})
