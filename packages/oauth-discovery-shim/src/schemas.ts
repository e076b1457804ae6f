export const STRINGS = { type: 'array', items: { type: 'string' } } as const

export const PROBLEM = {
  type: 'object',
  additionalProperties: true,
  properties: {
    statusCode: { type: 'integer' },
    code: { type: 'string' },
    error: { type: 'string' },
    message: { type: 'string' }
  }
} as const

/** A browser's preflight: every path has one, and no reader of the API needs to see it. */
export const PREFLIGHT = { hide: true, response: { 204: { type: 'null' } } } as const

export const protectedResource = {
  operationId: 'get_protected_resource_metadata',
  summary: 'Get the protected-resource metadata',
  description: 'Who protects the MCP endpoint (RFC 9728).',
  tags: ['oauth discovery'],
  response: {
    200: {
      type: 'object',
      required: ['resource', 'authorization_servers'],
      properties: {
        resource: { type: 'string' },
        authorization_servers: STRINGS,
        scopes_supported: STRINGS,
        bearer_methods_supported: STRINGS,
        resource_name: { type: 'string' }
      }
    }
  }
} as const

export const authorizationServer = {
  operationId: 'get_authorization_server_metadata',
  summary: 'Get the authorization-server metadata',
  description: "The identity provider's own metadata, plus the registration endpoint (RFC 8414).",
  tags: ['oauth discovery'],
  response: {
    200: {
      type: 'object',
      additionalProperties: true,
      required: ['issuer', 'authorization_endpoint', 'token_endpoint', 'response_types_supported'],
      properties: {
        issuer: { type: 'string' },
        authorization_endpoint: { type: 'string' },
        token_endpoint: { type: 'string' },
        response_types_supported: STRINGS,
        registration_endpoint: { type: 'string' }
      }
    },
    503: PROBLEM
  }
} as const

export const registration = {
  operationId: 'register_oauth_client',
  summary: 'Register a client',
  description:
    'Returns the one client registered at the identity provider (RFC 7591). The body is ignored; one over the ' +
    "server's limit gets 413.",
  tags: ['oauth discovery'],
  response: {
    201: {
      type: 'object',
      required: ['client_id', 'redirect_uris'],
      properties: {
        client_id: { type: 'string' },
        redirect_uris: STRINGS,
        token_endpoint_auth_method: { type: 'string' },
        grant_types: STRINGS,
        response_types: STRINGS,
        scope: { type: 'string' }
      }
    },
    413: PROBLEM,
    503: PROBLEM
  }
} as const

/** The same document at another URL. */
export const alias = <Schema extends { readonly response: object }>(
  { response }: Schema
): { readonly hide: true, readonly response: Schema['response'] } => ({ hide: true, response })
