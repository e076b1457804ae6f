import t from 'tap'
import { agree } from './agree.ts'
import { signInWorld } from './mcp-app.ts'

for (
  const [what, world, spelling = '/mcp'] of [
    ['a healthy server', {}],
    ['a healthy server, with a slash', {}, '/mcp/'],
    ['a healthy server, without a challenge', { challenge: false }],
    ["only the contract's documents", { shimOptions: { strictDiscovery: 'off' } }],
    ['no word about S256', { shimOptions: { advertisePkce: false } }],
    ['no client id', { shimOptions: { clientId: '' } }],
    ['an unknown client id', { shimOptions: { clientId: 'deleted-client' } }],
    ['a scope that is not allowed', { shimOptions: { scopes: ['phone'] } }],
    ['a callback that is not registered', { idpOptions: { redirectUris: ['http://localhost:7777/another'] } }],
    ['a resource the provider refuses', { idpOptions: { resource: 'https://another.example.com' } }],
    ['the identity provider is down', { shimOptions: { issuer: 'http://127.0.0.1:9' } }],
    ['an endpoint of another name', { shimOptions: { mcpPath: '/another' } }],
    ['an endpoint that is moved to its other spelling', {
      redirect: (url) => url === '/mcp' ? [307, '/mcp/'] : undefined
    }],
    ['an endpoint that is moved for good', { redirect: (url) => url === '/mcp/' ? [308, '/mcp'] : undefined }, '/mcp/'],
    ['an endpoint that is moved by a status for pages', {
      redirect: (url) => url === '/mcp' ? [302, '/mcp/'] : undefined
    }],
    ['an endpoint that is moved to another origin', {
      redirect: (url, baseUrl) =>
        url === '/mcp' ? [307, `${baseUrl.replace('localhost', '127.0.0.1')}/mcp/`] : undefined
    }],
    ['an endpoint that is moved without end', {
      redirect: (url) => /^\/mcp/.test(url) ? [307, `${url}?again`] : undefined
    }],
    ['documents that are moved', {
      redirect: (url) => /^\/\.well-known\/[^/]+\/(mcp|oauth)$/.test(url) ? [302, `${url}/`] : undefined
    }],
    ['documents that are moved to another origin', {
      redirect: (url, baseUrl) =>
        url.startsWith('/.well-known/') || url.startsWith('/oauth/.')
          ? [302, `${baseUrl.replace('localhost', '127.0.0.1')}${url}/`]
          : undefined
    }],
    ['the identity provider names itself on the callback', { idpOptions: { sendIss: true } }]
  ] as const satisfies ReadonlyArray<readonly [string, Parameters<typeof signInWorld>[1], string?]>
) {
  t.test(`what the doctor says of the SDKs is what they do: ${what}`, async (t) => {
    const { baseUrl } = await signInWorld(t, world)
    await agree(t, `${baseUrl}${spelling}`)
  })
}
