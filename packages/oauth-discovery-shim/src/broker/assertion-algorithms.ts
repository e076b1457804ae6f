/** The algorithms of client assertions, of clients and of this server at the identity provider. */
export const ASSERTION_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA']
