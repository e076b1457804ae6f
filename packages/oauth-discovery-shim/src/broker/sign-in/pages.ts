import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'

/** A piece of HTML. */
export class Html {
  readonly text: string

  constructor (text: string) {
    this.text = text
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;'
}

type Value = string | Html | readonly Html[]

/** Escapes every value of a template, except HTML. Lists are joined. */
export function html (strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(String.raw({ raw: strings }, ...values.map(textOf)))
}

function textOf (value: Value): string {
  if (typeof value === 'string') return value.replace(/[&<>"']/g, (character) => ENTITIES[character]!)
  return value instanceof Html ? value.text : value.map(({ text }) => text).join('')
}

/**
 * The animation is a defence against double-clickjacking: a window on top of the page makes somebody click twice, and
 * closes at the first click, so that the second one hits a button underneath. For a moment after the pointer reached
 * the page, buttons ignore it, longer than a double click takes. The keyboard and touch, which this attack cannot use,
 * work at once. It needs no script, which the policy would have to allow.
 */
const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { margin: 0; padding: 2rem 1rem; display: grid; justify-content: center }
main { width: min(30rem, calc(100vw - 2rem)) }
h1 { font-size: 1.35rem; line-height: 1.25 }
dt { font-weight: 600 } dd { margin: 0 0 .75rem; overflow-wrap: anywhere }
.warning {
  padding: .6rem .8rem; border-left: 4px solid light-dark(#b45309, #fbbf24);
  background: color-mix(in srgb, currentColor 6%, transparent)
}
form { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem }
button {
  font: inherit; padding: .6rem 1.5rem; border: 1px solid GrayText; border-radius: .4rem; cursor: pointer;
  background: transparent; color: inherit
}
button[value=allow] {
  background: light-dark(#1d4ed8, #93c5fd); color: light-dark(#fff, #111); border-color: transparent
}
@media (hover: hover) { html:hover button { animation: wait .8s } }
@keyframes wait { from, to { pointer-events: none; opacity: .6 } }
:focus-visible { outline: 3px solid light-dark(#1d4ed8, #93c5fd); outline-offset: 2px }
code { overflow-wrap: anywhere } small { color: GrayText }
`

/**
 * No script, nothing loaded, and no frame around it (RFC 9700 §4.16). Without `form-action`: browsers apply it to every
 * redirect after the form too, so it would have to name the identity provider, all its own redirects and the client.
 */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "frame-ancestors 'none'"
].join(';')

/** Headers of everything that a browser is shown or sent on with. */
export function protect (reply: FastifyReply): FastifyReply {
  return reply.headers({
    'cache-control': 'no-store',
    'content-security-policy': POLICY,
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    // The URLs hold codes (RFC 9700 §4.2.4).
    'referrer-policy': 'no-referrer',
    // A client that opened a window for the sign-in waits for it: another policy would cut the two apart.
    'cross-origin-opener-policy': 'unsafe-none'
  })
}

/** What else a page may have. */
export interface PageOptions {
  /** The title as HTML, if it holds more than text. */
  readonly heading?: Html
  /** A URL that the browser opens at once, in place of the page. */
  readonly next?: string
}

/** Sends a whole page. */
export function sendPage (
  reply: FastifyReply,
  statusCode: number,
  title: string,
  body: Html,
  options: PageOptions = {}
): FastifyReply {
  const { heading = html`${title}`, next } = options
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${next === undefined ? '' : html`<meta http-equiv="refresh" content="0;url=${next}">`}
<title>${title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<h1>${heading}</h1>
${body}
</main>
</body>
</html>
`
  return protect(reply).code(statusCode).type('text/html; charset=utf-8').send(page.text)
}

/** What went wrong, what somebody can do, and a link for those who want to go on. */
export interface ProblemPage {
  readonly statusCode: number
  readonly title: string
  readonly reason: string
  readonly advice: string
  /** What programs and their makers look for. */
  readonly code: string
  /** Where the client waits for the answer, if it has a callback. */
  readonly back?: { readonly url: string, readonly place: string }
}

export function sendProblemPage (
  reply: FastifyReply,
  { statusCode, title, reason, advice, code, back }: ProblemPage
): FastifyReply {
  const way = back && html`<a href="${back.url}" rel="noreferrer">Go back to ${back.place}</a>`
  return sendPage(
    reply,
    statusCode,
    title,
    html`<p>${reason}.</p>
<p>${advice}.</p>
${way === undefined ? '' : html`<p>${way}. Only do so if you came from there.</p>`}
<p><small>For the maker of the app: <code>${code}</code></small></p>`
  )
}

/**
 * In characters, of a URL and the cookies that are set with it. Proxies take a server whose headers exceed 4 KiB for
 * broken, and the host has headers of its own.
 */
const LONGEST_HEADERS = 1900

/**
 * Sends the browser on. 303: a form must not be sent again (RFC 9700 §4.12). A URL that is too long for a header is in
 * a page, which opens it by itself.
 */
export function sendOn (reply: FastifyReply, url: string): FastifyReply {
  const cookies = [reply.getHeader('set-cookie') ?? []].flat().join('')
  if (url.length + cookies.length <= LONGEST_HEADERS) return protect(reply).code(303).header('location', url).send()
  const link = html`<p><a href="${url}" rel="noreferrer">Go on</a>, if this page does not do so by itself.</p>`
  return sendPage(reply, 200, 'Signing in', link, { next: url })
}
