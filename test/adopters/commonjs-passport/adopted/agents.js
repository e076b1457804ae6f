/** Keys of people, and the notes as tools. */
module.exports = async function addAgents (app) {
  // Node.js would also require them, but Jest does not require ES modules.
  const { default: dualAuth, memoryStore, scopesFromRoute } = await import('dual-auth')
  const { default: management } = await import('dual-auth/management')
  const { default: mcpFromRoutes } = await import('mcp-from-routes')
  await app.register(dualAuth, {
    apiKeys: {
      marker: 'notes',
      peppers: [{ id: '1', secret: 'a pepper of an application for tests' }],
      store: memoryStore(),
      ownerParam: 'person',
      ownerIdFromParam: 'slug'
    },
    jwt: 'host',
    policy: ({ url }) => ['/mcp', '/notes', '/notes/'].includes(url) ? 'any-key' : 'public',
    scopes: (route) => route.url === '/mcp' ? null : scopesFromRoute(route)
  })
  // passport finds the user in preValidation, which is later.
  await app.register(management, {
    path: '/people/:person/api-keys',
    canManage: ({ session }, person) => session.get('passport') === person && person
  })
  app.addHook('onRoute', ({ url, method, schema }) => {
    if (url === '/notes' && method !== 'HEAD') schema.tags.push('mcp')
  })
  await app.register(mcpFromRoutes, {
    serverInfo: { name: 'notes', version: '1.0.0' },
    onRequest: async ({ identity }, reply) => {
      if (identity === null) {
        await reply.code(401).header('www-authenticate', 'Bearer').send({ message: 'An API key is required' })
      }
    }
  })
}
