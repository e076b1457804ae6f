import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import Fastify from 'fastify'

/**
 * Starts the demo's stand-in for GitHub's secret scanning, on loopback. `GET /keys` publishes the key that it signs
 * with, `POST /found` takes the text of a file, and reports the API keys in it to the shop server, whose response it
 * passes on. As GitHub does:
 * https://docs.github.com/en/code-security/secret-scanning/secret-scanning-partnership-program/secret-scanning-partner-program
 *
 * @param shop - URL of the shop server
 * @returns its URL
 */
export async function startLeakScanner (port: number, shop: string): Promise<string> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomUUID()
  const app = Fastify()

  app.get('/keys', async () => ({
    public_keys: [{ key_identifier: id, key: publicKey.export({ type: 'spki', format: 'pem' }), is_current: true }]
  }))

  app.post<{ Body: string }>('/found', async ({ body: text }, reply) => {
    const found = (text.match(/\bshop_\w+/g) ?? []).map((token) => ({
      token,
      type: 'shop_api_key',
      url: 'https://github.com/example/till/blob/main/.env',
      source: 'content'
    }))
    const body = JSON.stringify(found)
    const response = await fetch(`${shop}/secret-scanning`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'github-public-key-identifier': id,
        'github-public-key-signature': sign('sha256', Buffer.from(body), privateKey).toString('base64')
      },
      body
    })
    return reply.code(response.status).type('application/json').send(await response.text())
  })
  return await app.listen({ host: '127.0.0.1', port })
}
