import { oneOf, type Table } from '#shared/option-table'
import { settingsBy } from '../../checks.ts'
import type { Extension } from '../../extension.ts'
import { SECRET, type Secret } from '../secrets.ts'
import { holder } from './held.ts'
import { confirmPart, type Confirm, type ConfirmFallback } from './rule.ts'
import { sealerFrom } from './seal.ts'
import type { ConfirmStore } from './store.ts'

export { CONFIRMATION } from './confirmation.ts'
export type { Confirmation } from './confirmation.ts'
export { quoted } from './question.ts'
export type { Confirm, ConfirmFallback, ConfirmQuestion } from './rule.ts'
export type { ConfirmStore } from './store.ts'

/** Options of {@link confirm}. */
export interface ConfirmOptions {
  /**
   * What happens to a call with `config.mcp.confirm` if the client cannot ask a person. `'refuse'` returns an error,
   * `'allow'` runs the call, and `'token'` tells the model what would happen and gives it a token, which a second call
   * must pass in the argument `confirm_token`. Default is `'refuse'`.
   */
  readonly fallback?: ConfirmFallback
  /**
   * The key that signs the state of questions, or several, newest first, while it is replaced: the first one signs, all
   * of them verify. Each is at least 32 bytes long. All replicas need the same keys, and with them questions survive a
   * restart. Default is a random key of this process.
   */
  readonly secret?: Secret
  /**
   * Remembers used confirmations. Without a store that replicas share, each replica accepts the same confirmation once.
   * Default is the memory of this process.
   */
  readonly store?: ConfirmStore
}

declare module '../../types.ts' {
  interface McpRouteConfig {
    /**
     * The question to the person at the client before a call runs: true, a string, or a function that reads the record
     * and says what would happen to it. It comes after the route's hooks and validation. Requests that are not tool
     * calls run without a question. Default is none.
     */
    readonly confirm?: Confirm
  }
  interface McpTool {
    /**
     * What happens to calls that a person must confirm if the client cannot ask; absent for tools without a question.
     */
    readonly confirm?: ConfirmFallback
  }
}

const TABLE: Table<ConfirmOptions> = {
  fallback: oneOf('refuse', 'allow', 'token'),
  secret: SECRET,
  store: { holds: (store) => typeof Object(store).use === 'function', rule: 'must have a use function', secret: true }
}

/**
 * Asks the person at the client before a call with `config.mcp.confirm` runs.
 * @returns for the option `extensions`
 */
export function confirm (options: ConfirmOptions = {}): Extension {
  return {
    name: 'mcp-from-routes/confirm',
    keys: ['confirm'],
    inFiles: {
      confirm: [
        (value) => value === true || (typeof value === 'string' && value.trim() !== ''),
        'must be true or a non-empty string'
      ]
    },
    install ({ callerOf, settings: { serverInfo }, read }) {
      const { fallback = 'refuse', secret, store } = settingsBy(TABLE, options, 'confirm')
      const sealer = sealerFrom({ serverInfo, secret, callerOf })
      const hold = holder(sealer, store, read)
      return {
        tool: (source) => confirmPart(source, fallback, hold),
        requestState: { verify: sealer.verify },
        ready ({ tools, log }) {
          if (secret === undefined && [...tools.values()].some(({ part }) => part.asks)) {
            log.info('without confirm.secret, only this process accepts its confirmations, and only until it ends')
          }
        }
      }
    }
  }
}
