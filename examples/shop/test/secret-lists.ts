/** Of a secret, while it is replaced. */
export type Id = 'old' | 'next'

const LISTS = ['API_KEY_PEPPERS', 'PAY_KEY_SECRETS', 'OAUTH_BROKER_SECRETS', 'OAUTH_BROKER_ASSERTION_KEYS'] as const

export const secretOf = (id: Id, name: string): string => `${id}-${name}`.padEnd(40, '-')

/**
 * All secrets that the server signs with or compares, in this order.
 *
 * @param client - the id of the client that exchanges assertions
 */
export function settingsOf (ids: readonly Id[], client: string): Record<string, string> {
  return {
    ...Object.fromEntries(LISTS.map((name) => [name, ids.map((id) => `${id}:${secretOf(id, name)}`).join(',')])),
    OAUTH_BROKER_ASSERTION_CLIENTS: ids.map((id) => `${client}:${secretOf(id, 'agent')}`).join(','),
    METRICS_TOKEN: ids.map((id) => secretOf(id, 'metrics')).join(',')
  }
}
