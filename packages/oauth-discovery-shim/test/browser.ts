import { callbackFrom, type Credentials } from 'identity-provider'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Test } from 'tap'
import { ada } from './mcp-app.ts'

/** The person's side: a browser in which somebody signs in, and the client's listener on the callback port. */
export interface Person {
  /** Opens the authorization URL, signs in, follows the redirect to the listener; returns what arrived there. */
  signIn(authorizationUrl: URL): Promise<URLSearchParams>
}

/** @param credentials - whose; by default Ada's */
export async function person (t: Test, port: number, credentials: Credentials = ada): Promise<Person> {
  let arrived: URL | undefined
  const listener = createServer((request, response) => {
    arrived = new URL(request.url ?? '', `http://localhost:${port}`)
    response.end('You may close this window.')
  }).listen(port, '127.0.0.1')
  await once(listener, 'listening')
  t.teardown(() => {
    listener.closeAllConnections()
    listener.close()
  })

  return {
    async signIn (authorizationUrl) {
      arrived = undefined
      await fetch(await callbackFrom(authorizationUrl, credentials))
      t.equal((arrived as URL | undefined)?.pathname, '/callback')
      return (arrived as URL | undefined)?.searchParams ?? new URLSearchParams()
    }
  }
}
