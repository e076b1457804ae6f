import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The client that people sign in with. */
export const CLIENT_ID = 'starter'

/** Starts an identity provider on loopback that answers like Amazon Cognito, as far as tokens are concerned. */
export async function startIssuer () {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const header = { alg: 'RS256', kid: '1' }
  const server = createServer((request, response) => {
    const isKeys = request.url === '/.well-known/jwks.json'
    const keys = { keys: [{ ...publicKey.export({ format: 'jwk' }), ...header, use: 'sig' }] }
    const metadata = {
      issuer,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`
    }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(isKeys ? keys : metadata))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  /** The access token of a person in these groups. */
  const tokenOf = (sub: string, groups: readonly string[]): string => {
    const iat = Math.floor(Date.now() / 1000)
    const person = { sub, username: sub, 'cognito:groups': groups }
    const claims = { ...person, iss: issuer, client_id: CLIENT_ID, token_use: 'access', iat, exp: iat + 600 }
    const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
    return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`
  }
  return { issuer, tokenOf, close: () => server.close() }
}
