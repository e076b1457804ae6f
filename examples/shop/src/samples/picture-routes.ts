import type { FastifyInstance } from 'fastify'

/** Where the pictures of the demo's products are. */
export const PICTURES_PATH = '/pictures'

/** A picture loads nothing and runs nothing, also where somebody opens it as a page of its own. */
const POLICY = "default-src 'none';sandbox;frame-ancestors 'none'"

/**
 * Serves the pictures of the demo's products, which it draws when they are requested. Other servers may have these
 * products too, by `npm run seed`. The pages of hosts show them in views.
 */
export async function pictures (app: FastifyInstance): Promise<void> {
  // A page of a list has many, and the people of one office may share an address.
  const config = { auth: 'public', rateLimit: false } as const
  app.get<{ Params: { shop: string, file: string } }>(`${PICTURES_PATH}/:shop/:file`, {
    config,
    schema: { hide: true }
  }, async ({ params: { shop, file } }, reply) => {
    const { pictureOf } = await import('./pictures.ts')
    const picture = pictureOf(shop, file)
    if (picture === undefined) return reply.callNotFound()
    return await reply.type('image/svg+xml').headers({
      'cache-control': 'public, max-age=86400',
      'content-security-policy': POLICY,
      'cross-origin-resource-policy': 'cross-origin'
    }).send(picture)
  })
}
