import { PAY_RECONCILE_INVALID_OPTION } from './errors.ts'

/**
 * Rejects options that are left over after every known one was taken: a misspelt option would silently do nothing.
 *
 * @throws {@link PAY_RECONCILE_INVALID_OPTION}
 */
export function noOthers (rest: object): void {
  const [name] = Object.keys(rest)
  if (name !== undefined) throw new PAY_RECONCILE_INVALID_OPTION(`${name} is not an option`)
}
