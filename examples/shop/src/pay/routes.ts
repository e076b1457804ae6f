import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { isProviderError, PAY_RECONCILE_NO_SECRET_KEY, type PayProvider } from 'pay-reconcile'
import { callerOf } from '../access/caller.ts'
import { conflict } from '../errors.ts'
import { conflictProblems, providerProblems, readProblems, writeProblems } from '../http/problem.ts'
import { Deleted, ShopParams, Uuid } from '../http/schemas.ts'
import { verbatim } from '../http/text.ts'
import { ownersOnly } from '../access/shops-reached.ts'
import { accountRepository } from '../shops/account-repository.ts'
import { orderRepository } from '../shops/order-repository.ts'
import { ShopScope } from '../access/scope.ts'
import type { KeyRing } from './key-ring.ts'
import { payKeyRepository } from './pay-keys.ts'
import { actorOf } from './reconcile.ts'

export interface PayOptions {
  readonly knex: Knex
  readonly provider: PayProvider
  readonly keys: KeyRing
  /** How long the provider may take to verify a key, in milliseconds. */
  readonly timeout: number
  /** Makes these routes public, as they were before they required a token. */
  readonly isPublic: boolean
  /** The public address of the server, if it accepts events of the provider. Default: it does not. */
  readonly webhooksAt?: string
}

/** An e-mail address that no customer has, for a search that reveals nothing. */
const NOBODY = 'nobody@shop.invalid'

const PayKey = Type.Object({
  pay_secret_key: verbatim(Type.String({
    pattern: '^(sk|rk)_(test|live)_[A-Za-z0-9]+$',
    maxLength: 255,
    description: 'The secret key of the shop at the payment provider'
  }))
}, { additionalProperties: false })

const WebhookSecret = Type.Object({
  pay_webhook_secret: verbatim(
    Type.String({
      pattern: '^whsec_[A-Za-z0-9+/=_-]{16,250}$',
      description: 'The signing secret of the endpoint at the payment provider'
    })
  )
}, { additionalProperties: false })

const Webhook = Type.Object({
  url: Type.String({ description: 'Where the payment provider delivers events of the shop' })
})

const PayStatus = Type.Object({
  configured: Type.Boolean({ description: 'Whether the shop has a secret key' }),
  readable: Type.Boolean({
    description: 'Whether the server can decrypt it; if not, PAY_KEY_SECRETS lacks its secret: set the key again'
  }),
  accounts: Type.Integer({ description: 'Accounts of the shop' }),
  linked: Type.Integer({ description: 'Of those, with a customer at the payment provider' }),
  synced: Type.Integer({ description: 'Of those, with a snapshot of that customer' })
})

const Verdict = Type.Object({
  valid: Type.Boolean({ description: 'Whether the payment provider accepts the key' }),
  code: Type.Optional(Type.String({ description: 'Why not' }))
})

const CheckoutInput = Type.Object({ order_id: Uuid('A pending order of an account') }, { additionalProperties: false })

const Checkout = Type.Object({
  order_id: Uuid('The order'),
  account_id: Uuid('Whose order it is'),
  pay_customer_id: Type.String({ description: 'The customer of the account at the payment provider' }),
  created: Type.Boolean({ description: 'Whether this checkout created that customer' })
})

/** The routes between a shop and its payment provider. */
export const pay: FastifyPluginAsyncTypebox<PayOptions> = async (
  app,
  { knex, provider, keys, timeout, isPublic, webhooksAt }
) => {
  const repository = payKeyRepository(knex, keys)
  const accounts = accountRepository(knex)
  const orders = orderRepository(knex)

  if (isPublic) {
    app.log.warn('PAY_ROUTES_PUBLIC is true: anyone can set and remove the payment keys of shops, without a token')
  }
  const ownersAlone = isPublic ? [] : ownersOnly(knex)
  app.addHook('preParsing', isPublic ? ShopScope.open(knex) : ShopScope.authorize(knex))

  app.get('/status', {
    schema: {
      operationId: 'get_pay_status',
      summary: 'Get the payment status',
      description:
        'Whether the shop has a secret key that the server can decrypt, and how many of its accounts have a ' +
        'customer at the payment provider.',
      tags: ['pay'],
      params: ShopParams,
      response: { 200: PayStatus, ...readProblems }
    }
  }, async ({ shop }) => await repository.status(shop))

  app.put('/key', {
    preParsing: ownersAlone,
    schema: {
      operationId: 'set_pay_key',
      summary: 'Set the secret key',
      description:
        'Set the secret key of the shop at the payment provider, and replace the last one. It is never shown ' +
        'again. For owners of the shop, admins and machines.',
      tags: ['pay'],
      params: ShopParams,
      body: PayKey,
      response: { 200: PayStatus, ...writeProblems }
    }
  }, async (request) => {
    const { shop, body } = request
    await repository.set(shop, callerOf(request), body.pay_secret_key)
    return await repository.status(shop)
  })

  app.post('/key/verify', {
    schema: {
      operationId: 'verify_pay_key',
      summary: 'Verify the secret key',
      description: 'Ask the payment provider whether it accepts the secret key of the shop. Changes nothing.',
      tags: ['pay'],
      params: ShopParams,
      response: { 200: Verdict, ...writeProblems, ...providerProblems }
    }
  }, async ({ shop, signal }) => {
    const secretKey = await repository.get(shop)
    if (secretKey === null) throw new PAY_RECONCILE_NO_SECRET_KEY()
    return await verdictOf(provider, secretKey, AbortSignal.any([signal, AbortSignal.timeout(timeout)]))
  })

  app.delete('/key', {
    preParsing: ownersAlone,
    schema: {
      operationId: 'delete_pay_key',
      summary: 'Remove the secret key',
      description:
        'Remove the secret key of the shop. Accounts keep their customers; without a key nothing can be read or ' +
        'created. ' +
        'For owners of the shop, admins and machines.',
      tags: ['pay'],
      params: ShopParams,
      response: { 204: Deleted, ...writeProblems }
    }
  }, async (request, reply) => {
    await repository.remove(request.shop, callerOf(request))
    return await reply.code(204).send(null)
  })

  if (webhooksAt !== undefined) {
    app.put('/webhook-secret', {
      preParsing: ownersAlone,
      schema: {
        operationId: 'set_pay_webhook_secret',
        summary: 'Set the signing secret of the webhook',
        description:
          'Set the secret that the payment provider signs events of the shop with, and replace the last one. It ' +
          'is never shown again. For owners of the shop, admins and machines.',
        tags: ['pay'],
        params: ShopParams,
        body: WebhookSecret,
        response: { 200: Webhook, ...writeProblems }
      }
    }, async (request) => {
      const { shop, body } = request
      await repository.setWebhookSecret(shop, callerOf(request), body.pay_webhook_secret)
      return { url: new URL(`/admin/accounts/webhooks/${shop.id}`, webhooksAt).href }
    })

    app.delete('/webhook-secret', {
      preParsing: ownersAlone,
      schema: {
        operationId: 'delete_pay_webhook_secret',
        summary: 'Remove the signing secret of the webhook',
        description: 'Events of the shop are refused from then on. For owners of the shop, admins and machines.',
        tags: ['pay'],
        params: ShopParams,
        response: { 204: Deleted, ...writeProblems }
      }
    }, async (request, reply) => {
      await repository.setWebhookSecret(request.shop, callerOf(request), null)
      return await reply.code(204).send(null)
    })
  }

  app.post('/checkout', {
    schema: {
      operationId: 'create_pay_checkout',
      summary: 'Check out an order',
      description:
        'Give the account of a pending order its customer at the payment provider. The first checkout creates it, ' +
        'also if there are several at once, and stores it in details.pay_customer_id of the account.',
      tags: ['pay'],
      params: ShopParams,
      body: CheckoutInput,
      response: { 200: Checkout, ...conflictProblems, ...providerProblems }
    }
  }, async (request) => {
    const { shop, body: { order_id: orderId }, id: requestId, signal } = request
    const order = await orders.get(shop, orderId)
    if (order.status !== 'pending') throw conflict('order_id', `The order is ${order.status}`)
    if (order.account_id === null) throw conflict('order_id', 'The account of the order was deleted')
    const { id: accountId, name, details: { email } } = await accounts.get(shop, order.account_id)
    const { customerId, created } = await app.payReconcile.ensureCustomer({
      accountId,
      name,
      email: typeof email === 'string' ? email : undefined,
      actor: actorOf(request),
      requestId,
      signal
    })
    return { order_id: order.id, account_id: accountId, pay_customer_id: customerId, created }
  })
}

/** @throws a provider error if the provider did not say whether it accepts the key */
async function verdictOf (
  provider: PayProvider,
  secretKey: string,
  signal: AbortSignal
): Promise<{ valid: boolean, code?: string }> {
  try {
    await provider.findByEmail({ secretKey, email: NOBODY, signal })
    return { valid: true }
  } catch (error) {
    if (isProviderError(error) && ['key_rejected', 'key_forbidden'].includes(error.fault)) {
      return { valid: false, code: error.code }
    }
    throw error
  }
}
