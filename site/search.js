/**
 * What readers search for in other words than those of a page, or of a section. They are a field of their own, in the
 * index that the build makes.
 */
const WORDS = {
  'adopters.html': 'NestJS, add to an existing app',
  'backup.html#roll-back': 'rollback, downgrade',
  'clients.html': 'Claude Code, Codex, Cursor, VS Code, ChatGPT, connect a client',
  'docs.html': 'getting started',
  'dual-auth/': 'API key header: X-API-Key header, Authorization header, key as Bearer',
  'dual-auth/doctor.html': 'token expired, expired token, 401 with a valid token, invalid token',
  'dual-auth/policies.html#owners': 'multi-tenant, tenants, organizations',
  'existing-users.html': 'roles, permissions',
  'lists.html': 'pagination, paging, cursor',
  'mcp-from-routes/': 'install, npm install',
  'mcp-from-routes/contract.html': 'breaking change in CI, check tools in CI',
  'mcp-from-routes/renames.html': 'rename a tool, tool name changed, alias, old name',
  'mcp-from-routes/tools.html': 'list tools token cost, token cost of a list of tools',
  'mcp-from-routes/tools.html#calls-that-take-long': 'SSE, streaming, proxy timeout, 502, 504',
  'mcp-from-routes/tools.html#clients': 'CORS, browser clients',
  'mcp-from-routes/tools.html#what-each-caller-sees': 'hide a route from agents, hide a tool',
  'oauth-discovery-shim/': 'dynamic client registration, client registration',
  'pay-reconcile/runs.html': 'Stripe customer mismatch, mismatch between account and Stripe customer, differences',
  'pay-reconcile/webhooks.html': 'webhook signature, Stripe webhook',
  'shop/history.html#what-a-revert-does': 'undo import, undo an import, undo a change',
  'shop/imports.html': 'upload CSV, CSV upload, bulk import',
  'shop/operations.html#endpoints': 'Prometheus metrics, monitoring, alerts, Grafana',
  'shop/settings.html': 'environment variables, configuration',
  'troubleshooting.html': 'not working, connection refused, invalid_grant, invalid_grant after sign-in'
}
const { DOCS_BASE = '/' } = process.env

/** The words of a section; those of a page are of its first. */
function wordsOf ({ id, titles }) {
  const path = id.slice(DOCS_BASE.length)
  return WORDS[path] ?? (titles.length === 0 ? WORDS[path.replace(/#.*/, '')] : undefined)
}

/** Parts of a name such as `SHOP_NOT_FOUND` are words, and the whole name is one, which few pages have. */
const tokenize = (text) => [
  ...text.split(/[\n\r\p{Z}\p{P}]+/u),
  ...text.match(/[\p{L}\d]+(?:_[\p{L}\d]+)+/gu) ?? []
]

/**
 * Options of the site's search. They run in the browser, too: there no function may use another of this file. Only the
 * build extracts fields.
 *
 * @see [MiniSearch](https://lucaong.github.io/minisearch/types/MiniSearch.SearchOptions.html)
 */
export const search = {
  miniSearch: {
    options: {
      fields: ['title', 'titles', 'text', 'words'],
      extractField: (section, field) => field === 'words' ? wordsOf(section) : section[field],
      tokenize,
      processTerm: (term) => term.length > 1 && term.toLowerCase()
    },
    searchOptions: {
      boost: { title: 4, text: 1, titles: 2, words: 1.5 },
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
    return md.render(source, env).replaceAll(/<div class="language-ts[^]*?<\/pre>/g, '<div>')
  }
}
