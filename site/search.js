/**
 * Words that readers search for, and pages use others. They count as words of the page.
 */
const WORDS = {
  'clients.md': 'Claude Code, Codex, Cursor, VS Code',
  'dual-auth/index.md': 'API key header: X-API-Key header, Authorization header, key as Bearer',
  'lists.md': 'pagination paging cursor',
  'docs.md': 'getting started',
  'mcp-from-routes/tools.md': 'list tools token cost, token cost of a list of tools',
  'mcp-from-routes/renames.md': 'rename a tool, alias, old name',
  'pay-reconcile/runs.md': 'Stripe customer mismatch, mismatch between account and Stripe customer, differences',
  'pay-reconcile/webhooks.md': 'webhook signature',
  'shop/imports.md': 'upload CSV, CSV upload, bulk import',
  'shop/settings.md': 'environment variables configuration',
  'troubleshooting.md': 'not working, connection refused, invalid_grant, invalid_grant after sign-in'
}

/** Parts of a name such as `SHOP_NOT_FOUND` are words, and the whole name is one, which few pages have. */
const tokenize = (text) => [
  ...text.split(/[\n\r\p{Z}\p{P}]+/u),
  ...text.match(/[\p{L}\d]+(?:_[\p{L}\d]+)+/gu) ?? []
]

/**
 * Options of the site's search. They run in the browser, too, so no function may use another of this file.
 *
 * @see [MiniSearch](https://lucaong.github.io/minisearch/types/MiniSearch.SearchOptions.html)
 */
export const search = {
  miniSearch: {
    options: { tokenize, processTerm: (term) => term.length > 1 && term.toLowerCase() },
    searchOptions: {
      boost: { title: 4, text: 1, titles: 2 },
      fuzzy: (term) => term.length > 5 && 0.2,
      prefix: (term) => term.length > 2,
      // Pages say more than types, and their beginnings more than sections, which mention much. An error comes first
      // only for its whole code, which has a `_`.
      boostDocument (id, term, { titles }) {
        if (id.includes('/api/')) return 0.1
        if (id.includes('errors.html#') && !term.includes('_')) return 0.4
        return titles.length === 0 ? 1.6 : 1
      }
    }
  },
  _render (source, env, md) {
    // A whole program has the words of everything that it uses.
    const html = md.render(source, env).replaceAll(/<div class="language-ts[^]*?<\/pre>/g, '<div>')
    const words = WORDS[env.relativePath]
    return words === undefined ? html : html.replace('</h1>', `</h1><p>${words}</p>`)
  }
}
