import type { Recipient } from './authorize.ts'
import { html, type Html } from './pages.ts'

/** What the page says, and what its form brings back. */
export interface Consent extends Recipient {
  /** Name of this server. */
  readonly resource: string
  readonly scope: string
  /** Where the form is sent. */
  readonly action: string
  /** The sealed request. */
  readonly sealed: string
}

/** What scopes mean to a person. Others are shown by name. */
const MEANINGS: Readonly<Record<string, string>> = {
  openid: 'know who you are',
  email: 'see your email address',
  profile: 'see your name and profile',
  phone: 'see your phone number',
  offline_access: 'stay signed in'
}

/** The title of the page. */
export function consentTitle ({ client, resource }: Consent): string {
  return `Let ${client.name} use ${resource} in your name?`
}

/** The same, with a name whose letters may run from right to left kept apart from the rest. */
export function consentHeading ({ client, resource }: Consent): Html {
  return html`Let <bdi>${client.name}</bdi> use ${resource} in your name?`
}

/**
 * Asks a person whether a client may have tokens: who it says it is, what of that is known, and where the code goes.
 *
 * @see [RFC 9700 §4.11](https://www.rfc-editor.org/rfc/rfc9700#section-4.11), and the MCP specification's confused
 *   deputy
 */
export function consentPage (consent: Consent): Html {
  const { client, redirectUri, scope, action, sealed, resource } = consent
  return html`<dl>
<dt>App</dt><dd><bdi>${client.name}</bdi><br>${identity(consent)}</dd>
<dt>Where your sign-in goes</dt><dd>${destination(consent)}<br><code>${redirectUri}</code></dd>
<dt>What it may do</dt><dd>Everything that you may do at ${resource}. It can also ${
    list(scope.split(' ').map((name) => MEANINGS[name] ?? name))
  }.</dd>
</dl>
${warnings(consent).map((text) => html`<p class="warning">${text}</p>`)}
<p>You will sign in next, if you are not signed in already.</p>
<form method="post" action="${action}">
<input type="hidden" name="request" value="${sealed}">
<button name="decision" value="deny">Cancel</button>
<button name="decision" value="allow">Allow</button>
</form>`
}

/** What stands behind the name. */
function identity ({ client }: Consent): Html {
  if (client.source === 'list') return html`Known to this server.`
  if (client.source === 'document') {
    return html`Described by <strong>${new URL(client.id).host}</strong>, at <code>${client.id}</code>.`
  }
  return html`The app chose this name itself. Nobody has checked it.`
}

function destination ({ kind, redirectUri }: Consent): Html {
  const { host, protocol } = new URL(redirectUri)
  if (kind === 'loopback') return html`To a program on <strong>this computer</strong>.`
  if (kind === 'https') return html`To the site <strong>${host}</strong>.`
  return html`To the app on <strong>this computer</strong> that opens links with <strong>${protocol}</strong>`
}

/** What a person should know before they agree. */
export function warnings ({ client, kind, redirectUri }: Recipient): readonly string[] {
  const { host } = new URL(redirectUri)
  const own = client.source === 'document' ? new URL(client.id).host : undefined
  return [
    ...kind === 'https'
      ? []
      : [
        'Any program on this computer can ask like this. Go on only if you have just started this sign-in ' +
        'yourself, in the app named above.'
      ],
    ...kind === 'https' && client.source === 'registration'
      ? [
        `This server does not know ${host}. Whoever runs that site will be able to act in your name. Go on only ` +
        'if you trust it and started this there.'
      ]
      : [],
    ...kind === 'https' && own !== undefined && own !== host
      ? [`The app is described by ${own}, but your sign-in goes to ${host}, which is another site.`]
      : [],
    ...[own, kind === 'https' ? host : undefined].some((name) => name !== undefined && /(?:^|\.)xn--/.test(name))
      ? ['The address has letters that can look like others (xn--). Compare it with the one that you expect.']
      : []
  ]
}

/** `a, b and c` */
function list (items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)!}`
}
