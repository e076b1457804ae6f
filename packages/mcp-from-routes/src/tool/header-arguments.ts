import { IDENTITY, NEVER_FORWARDED } from '../call/headers.ts'
import { TOKEN } from './mirrored.ts'

/*
 * Which request headers may be arguments: those in which a caller says something of its call, such as Idempotency-Key,
 * If-Match or Prefer.
 */

/** Headers by which apps and gateways know who calls. The app's own are in `forwardHeaders`, or no call would pass. */
const CREDENTIAL =
  /(?:^|-)(?:api-?key|auth|authentication|authorization|cookie2?|credentials?|csrf|csrftoken|dpop|jwt|passwd|password|secret|session|signature|subscription-key|xsrf)(?:-|$)|(?:^|-)(?:access|bearer|id|refresh|security|user)-token$|^(?:x-)?token$/

/**
 * Headers that say where a request comes from and what it is, written by the server, by proxies, by tracers and by
 * browsers. Routes trust them.
 */
const TRANSPORT =
  /^(?:accept|accept-charset|access-control-.*|baggage|b3|cf-.*|client-cert.*|origin|referer|sec-.*|ssl-client-.*|traceparent|tracestate|true-client-ip|via|x-amzn-.*|x-b3-.*|x-client-.*|x-envoy-.*|x-forwarded.*|x-goog-authenticated-.*|x-http-method.*|x-ms-client-principal.*|x-original-.*|x-real-.*|x-rewrite-url|x-ssl-.*|(?:x-)?(?:authenticated|remote)-(?:email|groups?|name|user))$/

/**
 * Why a header cannot be an argument, and what to do.
 * @param name - in lower case
 * @param forwarded - `forwardHeaders`
 * @param routing - the headers by which the router finds the route
 * @returns undefined if it can
 */
export function reasonAgainst (
  name: string,
  forwarded: readonly string[],
  routing: Readonly<Record<string, string>>
): string | undefined {
  if (!TOKEN.test(name)) return 'it is not the name of a header'
  if (CREDENTIAL.test(name)) {
    return 'it carries a credential, which no model may choose. Remove it here: forwardHeaders bring that of the caller'
  }
  const isConditional = name.startsWith('if-')
  if (IDENTITY.has(name) || TRANSPORT.test(name) || (NEVER_FORWARDED.test(name) && !isConditional)) {
    return 'the server, a proxy, a tracer or a browser writes it. Remove it here'
  }
  if (Object.hasOwn(routing, name)) return 'the router finds the route by it. Remove it here'
  return forwarded.includes(name)
    ? "it is one of forwardHeaders, so each call brings the caller's own. Remove it there, or here"
    : undefined
}

/** The `config.mcp.arguments` that make a header an argument, for an error. */
export function optIn (name: string): string {
  return `config.mcp.arguments: ${JSON.stringify({ headers: { [name]: { name: name.replaceAll('-', '_') } } })}`
}
