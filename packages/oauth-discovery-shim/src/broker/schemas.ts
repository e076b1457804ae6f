import { PROBLEM, STRINGS } from '../schemas.ts'

/** RFC 6749 §5.2, with the members that all errors of this plugin have. */
const REFUSAL = { ...PROBLEM, properties: { ...PROBLEM.properties, error_description: { type: 'string' } } } as const

/** Also 413 for a body that is too large, and 429 for a rate limit of the host. */
const refusals = (...statuses: readonly number[]) => Object.fromEntries(statuses.map((status) => [status, REFUSAL]))

const TAGS = ['oauth']
const PAGE = { description: 'A page', content: { 'text/html': { schema: { type: 'string' } } } } as const
const ONWARD = { description: 'The browser is sent on', type: 'null' } as const

export const register = {
  operationId: 'register_oauth_broker_client',
  summary: 'Register a client with the broker',
  description: 'Gives a client an id that holds its name and its callbacks (RFC 7591). Nothing is stored.',
  tags: TAGS,
  response: {
    201: {
      type: 'object',
      required: ['client_id', 'redirect_uris'],
      properties: {
        client_id: { type: 'string' },
        client_id_issued_at: { type: 'integer' },
        client_name: { type: 'string' },
        redirect_uris: STRINGS,
        token_endpoint_auth_method: { type: 'string' },
        grant_types: STRINGS,
        response_types: STRINGS,
        scope: { type: 'string' }
      }
    },
    ...refusals(400, 413, 429)
  }
} as const

export const authorize = {
  operationId: 'start_oauth_sign_in',
  summary: 'Start a sign-in',
  description:
    'Shows a person which client wants to sign in, and where the code goes (RFC 6749 §4.1.1). Needs PKCE with S256.',
  tags: TAGS,
  response: { 200: PAGE, 303: ONWARD, 400: PAGE, 503: PAGE, ...refusals(429) }
} as const

export const decide = {
  operationId: 'decide_oauth_sign_in',
  summary: 'Answer the consent page',
  description: 'Sends the browser to the identity provider, or back to the client. Sites that were refused get no ' +
    'redirect, but a link.',
  tags: TAGS,
  response: { 200: PAGE, 303: ONWARD, 400: PAGE, 503: PAGE, ...refusals(413, 429) }
} as const

export const callback = {
  operationId: 'finish_oauth_sign_in',
  summary: 'Finish a sign-in',
  description:
    'The identity provider sends the browser here; it is sent on to the client with a code (RFC 6749 §4.1.2, ' +
    'RFC 9207).',
  tags: TAGS,
  response: { 303: ONWARD, 400: PAGE, 503: PAGE, ...refusals(429) }
} as const

export const token = {
  operationId: 'issue_oauth_tokens',
  summary: 'Exchange a code or a refresh token',
  description:
    "Returns the identity provider's access token, and a refresh token of this server that works once (RFC 6749 " +
    '§4.1.3 and §6). With the option for it, identity assertions are exchanged for access tokens of this server ' +
    '(RFC 7523 §2.1).',
  tags: TAGS,
  response: {
    200: {
      type: 'object',
      required: ['access_token', 'token_type'],
      properties: {
        access_token: { type: 'string' },
        token_type: { type: 'string' },
        expires_in: { type: 'number' },
        refresh_token: { type: 'string' },
        scope: { type: 'string' },
        resource: { type: 'string' }
      }
    },
    ...refusals(400, 401, 413, 429, 502, 503)
  }
} as const

export const keys = {
  operationId: 'get_oauth_keys',
  summary: 'Get the public keys',
  description: 'Of the access tokens that this server issues for identity assertions (RFC 7517 §5).',
  tags: TAGS,
  response: {
    200: {
      type: 'object',
      required: ['keys'],
      properties: { keys: { type: 'array', items: { type: 'object', additionalProperties: true } } }
    },
    ...refusals(429)
  }
} as const

const INSTANT = { type: 'string', format: 'date-time' } as const
const accessExpires = {
  anyOf: [INSTANT, { type: 'null' }],
  description: 'Until when its last access token works; null if the identity provider does not say'
} as const

export const listGrants = {
  operationId: 'list_oauth_grants',
  summary: 'List connected apps',
  description: 'Which clients the caller has let in and which still have a refresh token, the last used first.',
  tags: TAGS,
  response: {
    200: {
      type: 'array',
      items: {
        type: 'object',
        required: [
          'id',
          'client_id',
          'client_name',
          'scope',
          'created_at',
          'used_at',
          'access_token_expires_at',
          'expires_at'
        ],
        properties: {
          id: { type: 'string' },
          client_id: {
            anyOf: [{ type: 'string' }, { type: 'null' }],
            description: 'URL of its metadata document, or an id that the server knows; null if it registered itself'
          },
          client_name: { type: 'string', description: 'What it calls itself' },
          scope: { type: 'string' },
          created_at: INSTANT,
          used_at: { ...INSTANT, description: 'When it last got an access token' },
          access_token_expires_at: accessExpires,
          expires_at: { ...INSTANT, description: 'When its refresh token expires' }
        }
      }
    },
    ...refusals(401, 403, 429, 503)
  }
} as const

export const endGrant = {
  operationId: 'end_oauth_grant',
  summary: 'Disconnect an app',
  description:
    'Its refresh token stops working at once, and the identity provider is told, if it can be. An access token ' +
    'works until the time in the response.',
  tags: TAGS,
  params: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
  response: {
    200: {
      type: 'object',
      required: ['id', 'client_name', 'access_token_expires_at', 'at_provider'],
      properties: {
        id: { type: 'string' },
        client_name: { type: 'string' },
        access_token_expires_at: accessExpires,
        at_provider: {
          type: 'string',
          enum: ['revoked', 'failed', 'not_told'],
          description:
            'Whether the identity provider revoked its own refresh token; not_told: it offers no revocation, or ' +
            'the token is not known'
        }
      }
    },
    ...refusals(401, 403, 404, 429, 503)
  }
} as const

export const revoke = {
  operationId: 'revoke_oauth_token',
  summary: 'Revoke a refresh token',
  description: 'Ends a sign-in, here and at the identity provider (RFC 7009). Access tokens work until they expire.',
  tags: TAGS,
  response: { 200: { description: 'Revoked, or not valid', type: 'null' }, ...refusals(400, 401, 413, 429, 503) }
} as const
