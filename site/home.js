import { read } from './pages.js'

/** The packages, as the first page names them: what somebody wants, and what it is for. */
const DOORS = [
  {
    title: 'Agents call my API',
    details: 'mcp-from-routes: tag a Fastify route, and agents call it as a tool. Routes without the tag stay hidden.',
    link: '/mcp-from-routes/',
    linkText: 'Start here'
  },
  {
    title: 'API keys and sign-in',
    details: 'dual-auth: keys and tokens for agents, machines and people. oauth-discovery-shim: sign-in from MCP ' +
      'clients with Cognito, Entra ID and others.',
    link: '/dual-auth/',
    linkText: 'dual-auth'
  },
  {
    title: 'Accounts and Stripe customers',
    details: 'pay-reconcile: compares the accounts in your database with your customers at Stripe. It needs no agents.',
    link: '/pay-reconcile/',
    linkText: 'pay-reconcile'
  }
]

const FRONT = {
  layout: 'home',
  hero: {
    name: 'Routes for agents',
    text: 'Your Fastify API, as tools for AI agents',
    tagline: "For teams with a Fastify 5 API. An agent's call runs your route, in process and with the caller's " +
      'credential: your authentication, validation and rate limits apply.',
    actions: [
      { theme: 'brand', text: 'Use it in your API', link: '/mcp-from-routes/' },
      { theme: 'alt', text: 'Run the demo', link: '/tour' },
      { theme: 'alt', text: 'How it compares', link: '/overview#how-it-compares' }
    ]
  },
  features: DOORS
}

/** The first page of the site: what this is, for whom, and where to go on. Its program is that of the README. */
export function home () {
  const [program] = /^```ts\n[^]*?^```$/m.exec(read('README.md'))
  return `---\n${JSON.stringify(FRONT)}\n---\n\n## A route becomes a tool\n\n${program}\n\n` +
    '`list_notes` is now a tool at `/mcp`. [The whole program, and how to connect a client](mcp-from-routes/index.md)\n'
}
