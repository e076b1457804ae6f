import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import type { Demo } from './demo-file.ts'
import type { SeededShop } from '../samples/seed.ts'

/** How often the shop is asked while it is busy. */
const TRIES = 30

/**
 * Gives each shop of the demo an API key: the one of the last start if it works, else a new one, created with a
 * machine's token through the management routes, as any program would.
 */
export async function keysForShops (app: FastifyInstance, shops: readonly SeededShop[], { idp, last }: {
  readonly idp: Demo['idp'],
  readonly last: Demo | undefined
}): Promise<Demo['shops']> {
  const token = await machineToken(idp)
  return await Promise.all(shops.map(async (shop) => {
    const known = last?.shops.find(({ id }) => id === shop.id)?.api_key
    if (known !== undefined) {
      const tried = await answerTo(app, { url: `/shops/${shop.id}/tags?limit=1`, headers: { 'x-api-key': known } })
      if (tried.statusCode === 200) return { ...shop, api_key: known }
      if (tried.statusCode >= 500) {
        throw new Error(`The key of the demo was not tried: ${tried.statusCode} ${tried.body}`)
      }
    }
    const made = await answerTo(app, {
      method: 'POST',
      url: `/shops/${shop.id}/api-keys/`,
      headers: { authorization: `Bearer ${token}` },
      payload: { name: 'Demo' }
    })
    if (made.statusCode !== 201) throw new Error(`No API key for the demo: ${made.statusCode} ${made.body}`)
    return { ...shop, api_key: made.json<{ plaintext: string }>().plaintext }
  }))
}

/** Asks again while the shop is busy, as it may be on a machine with much else to do. */
async function answerTo (app: FastifyInstance, request: InjectOptions): Promise<LightMyRequestResponse> {
  for (let tries = 1;; tries++) {
    const response = await app.inject(request)
    if (response.statusCode !== 503 || tries === TRIES) return response
    await sleep(Number(response.headers['retry-after'] ?? 1) * 1000)
  }
}

/** @returns an access token by client credentials (RFC 6749 §4.4) */
export async function machineToken ({ issuer, m2m }: Demo['idp']): Promise<string> {
  const metadata = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json() as {
    token_endpoint: string
  }
  const answer = await fetch(metadata.token_endpoint, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${m2m.client_id}:${m2m.client_secret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: m2m.scope })
  })
  return (await answer.json() as { access_token: string }).access_token
}
