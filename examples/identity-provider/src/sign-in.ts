import type { IncomingMessage } from 'node:http'
import type Provider from 'oidc-provider'
import { subjectOf, userByPassword } from './account.ts'
import type { Middleware } from './cognito.ts'
import { expiredPage, show, signInPage } from './pages.ts'
import type { DemoUser } from './types.ts'

const LARGEST_FORM = 4096

/** `/sign-in/:uid`: the form, and what comes back from it. */
export function signIn (provider: Provider, users: readonly DemoUser[]): Middleware {
  return async (ctx, next) => {
    if (!ctx.path.startsWith('/sign-in/')) return next()

    const interaction = await provider.interactionDetails(ctx.req, ctx.res).catch(() => undefined)
    if (!interaction) return show(ctx, 400, (nonce) => expiredPage({ nonce }))
    if (ctx.method !== 'POST') return show(ctx, 200, (nonce) => signInPage({ nonce }))

    const form = new URLSearchParams(await bodyOf(ctx.req))
    const username = form.get('username') ?? ''
    const user = userByPassword(users, username, form.get('password') ?? '')
    if (!user) return show(ctx, 401, (nonce) => signInPage({ nonce, username, failed: true }))

    // always show the form, so end the session of a person who signed in here before
    if (interaction.session) {
      await (await provider.Session.findByUid(interaction.session.uid))?.destroy()
      delete interaction.session
      await interaction.save(interaction.exp - Math.floor(Date.now() / 1000))
    }
    const result = { login: { accountId: subjectOf(user) }, consent: {} }
    ctx.status = 303
    ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, result, { mergeWithLastSubmission: false }))
  }
}

async function bodyOf (request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) {
    if (body.length <= LARGEST_FORM) body += chunk
  }
  return body.slice(0, LARGEST_FORM)
}
