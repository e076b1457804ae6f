import { randomBytes } from 'node:crypto'
import type { Middleware } from './cognito.ts'

/** What the sign-in page shows. */
export interface SignInPage {
  /** Nonce of the page's style, as in its Content-Security-Policy. */
  readonly nonce: string
  /** What was typed before. */
  readonly username?: string
  /** The last attempt was refused. */
  readonly failed?: boolean
}

export function signInPage ({ nonce, username = '', failed = false }: SignInPage): string {
  const error = 'aria-describedby="error" aria-invalid="true"'
  return page(
    nonce,
    failed ? 'Sign-in failed' : 'Sign in',
    `
    <h1>Sign in</h1>
    <p>Demo identity provider. The users are printed where the demo was started.</p>
    ${failed ? '<p id="error" role="alert">Incorrect username or password.</p>' : ''}
    <form method="post">
      <label for="username">Username</label>
      <input id="username" name="username" value="${
      escaped(username)
    }" autocomplete="username" autocapitalize="none" spellcheck="false" required ${username ? '' : 'autofocus'} ${
      failed ? error : ''
    }>
      <label for="password">Password</label>
      <input id="password" name="password" type="password" autocomplete="current-password" required ${
      username ? 'autofocus' : ''
    } ${failed ? error : ''}>
      <button type="submit">Sign in</button>
    </form>`
  )
}

export function expiredPage ({ nonce }: Pick<SignInPage, 'nonce'>): string {
  return page(
    nonce,
    'Sign-in expired',
    `
    <h1>This sign-in has expired</h1>
    <p>It is open for three minutes. Go back to your MCP client and start again.</p>`
  )
}

/** For a request that must not be sent back to a client: its client or its callback is not known. */
export function errorPage (
  { nonce, error, description }: Pick<SignInPage, 'nonce'> & { readonly error: string, readonly description: string }
): string {
  return page(
    nonce,
    'Sign-in refused',
    `
    <h1>Sign-in refused</h1>
    <p role="alert">${escaped(error)}: ${escaped(description)}</p>`
  )
}

/** Sends a page under a policy that lets it load nothing and be framed nowhere. */
export function show (ctx: Parameters<Middleware>[0], status: number, pageWith: (nonce: string) => string): void {
  const nonce = randomBytes(16).toString('base64')
  ctx.status = status
  ctx.type = 'html'
  // no form-action: browsers apply it to the redirect after the form too, and that one goes to the client
  ctx.set(
    'content-security-policy',
    `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; frame-ancestors 'none'`
  )
  ctx.set('cache-control', 'no-store')
  ctx.set('referrer-policy', 'no-referrer')
  ctx.body = pageWith(nonce)
}

function page (nonce: string, title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <style nonce="${nonce}">
      :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
      body { margin: 0; padding: 2rem 1rem; display: grid; justify-content: center }
      main { width: min(22rem, calc(100vw - 2rem)) }
      form { display: grid; gap: .25rem }
      input, button { font: inherit; padding: .6rem; border: 1px solid GrayText; border-radius: .4rem }
      input { margin-bottom: .75rem; background: Field; color: FieldText }
      button {
        background: light-dark(#1d4ed8, #93c5fd); color: light-dark(#fff, #111); border-color: transparent;
        cursor: pointer
      }
      :focus-visible { outline: 3px solid light-dark(#1d4ed8, #93c5fd); outline-offset: 2px }
      [role=alert] { padding: .6rem; border-left: 4px solid light-dark(#b91c1c, #fca5a5) }
    </style>
  </head>
  <body>
    <main>${body}
    </main>
  </body>
</html>
`
}

function escaped (text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}
