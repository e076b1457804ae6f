import { randomBytes } from 'node:crypto'
import { Type, type Static } from '@sinclair/typebox'
import type { FastifyError, FastifyInstance } from 'fastify'
import { documented, HostProblem, Id, Problem } from '../admin/schemas.ts'
import type { WebhookVerifier } from '../provider/types.ts'
import type { AwaitedShops } from '../reconcile/types.ts'
import { PAY_RECONCILE_WEBHOOK_REFUSED } from './errors.ts'
import type { Gathering } from './gathering.ts'
import type { Webhooks, WebhookSecrets } from './options.ts'

const Params = Type.Object({ shop_id: Id })

/** In bytes. What a delivery says is not used, but its signature covers all of it. */
const MAX_BODY = 524_288

/** What the route needs. */
interface WebhookRoute extends Pick<Required<Webhooks>, 'config'> {
  readonly secretOf: WebhookSecrets['find']
  readonly verifier: WebhookVerifier
  readonly awaited: AwaitedShops
  readonly gathering: Pick<Gathering, 'soon'>
}

/**
 * The route that the payment provider calls. It has no login: the signature with the shop's secret is the credential.
 * All refusals are the same, so that nobody learns which shops there are.
 */
export function webhookRoute (
  scope: FastifyInstance,
  { config, secretOf, verifier, awaited, gathering }: WebhookRoute
): void {
  // Verified in place of a missing secret, so that the response takes as long.
  const nobody = `whsec_${randomBytes(24).toString('hex')}`

  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: MAX_BODY },
    (_request, body, done) => done(null, body)
  )
  // Too large, or not as long as announced.
  scope.setErrorHandler((error: FastifyError) => {
    throw error.code?.startsWith('FST_ERR_CTP_') ? new PAY_RECONCILE_WEBHOOK_REFUSED() : error
  })
  // Before the body is read.
  scope.addHook('onRequest', async (request) => {
    if (!verifier.isSigned(request.headers)) throw new PAY_RECONCILE_WEBHOOK_REFUSED()
  })

  scope.post<{ Params: Static<typeof Params>, Body: unknown }>('/webhooks/:shop_id', {
    config,
    schema: documented({
      operationId: 'receive_pay_webhook',
      summary: 'Receive an event of the payment provider',
      description:
        'Only for the payment provider. The credential is a signature with the signing secret of the shop, not ' +
        'a login. The content of the event is not used: soon a run in the mode changes reads the events of the ' +
        'shop. Every refused request gets the same 400.',
      params: Params,
      response: {
        204: Type.Null({ description: 'Noted' }),
        400: Problem,
        429: HostProblem,
        500: HostProblem,
        503: HostProblem
      }
    })
  }, async ({ params: { shop_id: shopId }, headers, body }, reply) => {
    const shop = await secretOf(shopId)
    const secret = shop && verifier.isSecret(shop.secret) ? shop.secret : undefined
    const delivery = Buffer.isBuffer(body) ? verifier.verify({ headers, body, secret: secret ?? nobody }) : undefined
    if (!shop || secret === undefined || !delivery) throw new PAY_RECONCILE_WEBHOOK_REFUSED()
    // An endpoint may be subscribed to more than it needs to be.
    if (!delivery.isAboutCustomers) return await reply.code(204).send()
    if (!await awaited.note(shop.shopId, delivery.id)) throw new PAY_RECONCILE_WEBHOOK_REFUSED()
    gathering.soon()
    return await reply.code(204).send()
  })
}
