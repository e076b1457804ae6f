import { DURATION, FUNCTION, integer, type Table, withoutRegistration } from '#shared/option-table'
import type { OnKeyChange } from '../keys/store.ts'
import { settingsBy, isSafeUrl, WEB_URL } from '../option-checks.ts'

/** The endpoint that GitHub reports leaked keys to. */
export interface ScanningOptions {
  /** Path of the endpoint. @default '/secret-scanning' */
  readonly path?: string
  /**
   * Where GitHub publishes the keys that it signs reports with.
   *
   * @default 'https://api.github.com/meta/public_keys/secret_scanning'
   */
  readonly keysUrl?: string
  /** How long a read of those keys may take, in milliseconds. @default 5000 */
  readonly keysTimeout?: number
  /** Least time between two reads of those keys, in milliseconds. @default 300000, five minutes */
  readonly keysCooldown?: number
  /** Tokens that one report may have. @default 1000 */
  readonly maxTokens?: number
  /**
   * Called for every key that a report revokes, as that of `dual-auth/management`: pass the same function, and the
   * audit trail has no gap. `change.leak` says where the key was found. If it throws, the key is not revoked, and
   * the response is 503, after which GitHub reports it again.
   *
   * @default none
   */
  readonly onKeyChange?: OnKeyChange
}

/** Scanning options, checked and complete. */
export type ScanningSettings = Required<ScanningOptions>

const TABLE: Table<ScanningSettings> = {
  path: {
    holds: (path) => typeof path === 'string' && /^\/[^\s:*?]*$/.test(path),
    rule: 'must start with / and have no parameters',
    default: '/secret-scanning'
  },
  keysUrl: {
    holds: (url) => WEB_URL.holds(url) && isSafeUrl(url),
    rule: `${WEB_URL.rule}, or http on loopback`,
    default: 'https://api.github.com/meta/public_keys/secret_scanning'
  },
  keysTimeout: { ...DURATION, default: 5_000 },
  keysCooldown: { ...DURATION, default: 300_000 },
  maxTokens: { ...integer(1), default: 1000 },
  onKeyChange: { ...FUNCTION, default: () => {} }
}

/** @throws {@link DUAL_AUTH_INVALID_OPTION} */
export function scanningSettings (options: ScanningOptions): ScanningSettings {
  return settingsBy(TABLE, withoutRegistration(options), 'scanning')
}
