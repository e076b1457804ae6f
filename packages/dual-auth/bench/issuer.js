import { createSign, generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import { once } from 'node:events'

/** An identity provider on loopback: discovery, a key set whose readings are counted, tokens. */
export async function startIssuer () {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const segment = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const server = createServer((request, response) => {
    if (request.url === '/jwks') issuer.fetches++
    response.end(JSON.stringify(
      request.url === '/jwks'
        ? { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'key-1', use: 'sig', alg: 'RS256' }] }
        : { issuer: issuer.url, jwks_uri: `${issuer.url}/jwks` }
    ))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const now = Math.floor(Date.now() / 1000)
  const issuer = {
    url: `http://127.0.0.1:${server.address().port}`,
    fetches: 0,
    publicKey,
    sign: (text) => createSign('sha256').update(text).sign(privateKey),
    token (kid = 'key-1', others = {}) {
      const claims = {
        iss: issuer.url,
        sub: 'user',
        client_id: 'app',
        token_use: 'access',
        iat: now,
        exp: now + 3600,
        ...others
      }
      const input = `${segment({ alg: 'RS256', kid })}.${segment(claims)}`
      return `${input}.${createSign('sha256').update(input).sign(privateKey).toString('base64url')}`
    },
    close () {
      server.closeAllConnections()
      server.close()
    }
  }
  return issuer
}
