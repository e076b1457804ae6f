import { createError } from '@fastify/error'
import { createHash, randomBytes } from 'node:crypto'

/** Somebody's credentials at the demo identity provider. */
export interface Credentials {
  readonly username: string
  readonly password: string
}

/** Which token is wanted, and of whom. */
export interface TokenRequest extends Credentials {
  readonly issuer: string
  readonly clientId: string
  /** URL the token is for ([RFC 8707](https://www.rfc-editor.org/rfc/rfc8707)), such as `http://localhost:8080/mcp`. */
  readonly resource: string
  /** Default `http://localhost:7777/callback`. Nothing has to listen there. */
  readonly redirectUri?: string
}

/** A step of the sign-in was not answered as a browser needs it; the message holds the answer. */
export const DEMO_SIGN_IN_FAILED = createError('DEMO_SIGN_IN_FAILED', 'Sign-in stopped at %s: %s', 502)

/**
 * Signs in as a person with a browser would: opens the authorization URL, agrees and fills in the form, follows
 * the redirects. Stops before the callback URL is opened, and returns it.
 *
 * @param cookies - the browser's, to sign in there again. Default: a new browser
 * @throws {@link DEMO_SIGN_IN_FAILED} a wrong password, an unknown client, a refused scope
 */
export async function callbackFrom (
  authorizationUrl: URL,
  credentials: Credentials,
  cookies = new Map<string, string>()
): Promise<URL> {
  const callback = authorizationUrl.searchParams.get('redirect_uri') ?? ''
  let url = authorizationUrl
  let form: URLSearchParams | undefined

  for (let step = 0; step < 15; step++) {
    const response = await fetch(url, {
      method: form ? 'POST' : 'GET',
      ...form && { body: form },
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      redirect: 'manual'
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    const body = await response.text()
    if (location) {
      url = new URL(location, url)
      if (url.href.startsWith(`${callback}?`)) return url
      form = undefined
    } else if (response.ok && !form) {
      form = formIn(body, credentials)
      url = new URL(/<form[^<>]* action="([^"]*)"/.exec(body)?.[1] ?? '', url)
    } else {
      throw new DEMO_SIGN_IN_FAILED(url.pathname, body)
    }
  }
  throw new DEMO_SIGN_IN_FAILED(url.pathname, 'too many redirects')
}

/** A person's answers: yes to a question, and her credentials to a sign-in form. */
function formIn (page: string, { username, password }: Credentials): URLSearchParams {
  const hidden = [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)].map((
    [, name = '', value = '']
  ) => [name, value])
  return new URLSearchParams([
    ...hidden,
    ...Object.entries(page.includes('name="decision"') ? { decision: 'allow' } : { username, password })
  ])
}

/**
 * An access token for a user, by authorization code with PKCE and without a browser.
 *
 * @throws {@link DEMO_SIGN_IN_FAILED}
 */
export async function accessTokenFor (request: TokenRequest): Promise<string> {
  const { issuer, clientId, resource, redirectUri = 'http://localhost:7777/callback' } = request
  const metadata = await jsonFrom(await fetch(`${issuer}/.well-known/openid-configuration`))
  const verifier = randomBytes(32).toString('base64url')

  const authorizationUrl = new URL(metadata['authorization_endpoint'] ?? '')
  authorizationUrl.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'openid email profile',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    resource
  }).toString()
  const callback = await callbackFrom(authorizationUrl, request)
  const code = callback.searchParams.get('code')
  if (!code) throw new DEMO_SIGN_IN_FAILED(callback.pathname, callback.search)

  const tokens = await jsonFrom(
    await fetch(metadata['token_endpoint'] ?? '', {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        code_verifier: verifier,
        client_id: clientId,
        redirect_uri: redirectUri,
        resource
      })
    })
  )
  return tokens['access_token'] ?? ''
}

async function jsonFrom (response: Response): Promise<Readonly<Record<string, string>>> {
  if (!response.ok) throw new DEMO_SIGN_IN_FAILED(new URL(response.url).pathname, await response.text())
  return await response.json() as Record<string, string>
}
