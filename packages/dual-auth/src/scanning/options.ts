import type { OnKeyChange } from '../keys/store.ts'
import { duration, func, integer, must, noOthers, object, ownOptions, safeUrl } from '../option-checks.ts'

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

/** @throws {@link DUAL_AUTH_INVALID_OPTION} */
export function scanningSettings (options: ScanningOptions): ScanningSettings {
  const {
    path = '/secret-scanning',
    keysUrl = 'https://api.github.com/meta/public_keys/secret_scanning',
    keysTimeout = 5_000,
    keysCooldown = 300_000,
    maxTokens = 1000,
    onKeyChange = () => {},
    ...rest
  } = object('scanning', options)
  noOthers('scanning.', ownOptions(rest))
  must(typeof path === 'string' && /^\/[^\s:*?]*$/.test(path), 'scanning.path must start with / and have no parameters')
  return {
    path,
    keysUrl: safeUrl('scanning.keysUrl', keysUrl),
    keysTimeout: duration('scanning.keysTimeout', keysTimeout),
    keysCooldown: duration('scanning.keysCooldown', keysCooldown),
    maxTokens: integer('scanning.maxTokens', maxTokens, 1),
    onKeyChange: func('scanning.onKeyChange', onKeyChange)
  }
}
