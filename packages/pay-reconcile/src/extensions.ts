import { arrayOf, type Rule } from '#shared/option-table'
import type { Extension } from './extension.ts'
import { must } from './option-checks.ts'

/** Subpaths that have an extension of the same name. The core only names them. */
const SUBPATHS = ['schedule', 'webhooks', 'csv']

export const EXTENSIONS: Rule = arrayOf(
  isExtension,
  'what functions such as schedule() of pay-reconcile/schedule return'
)

function isExtension (value: unknown): value is Extension {
  const { name, install } = Object(value)
  return typeof name === 'string' && typeof install === 'function'
}

/** @throws {@link PAY_RECONCILE_INVALID_OPTION} unless each is of another import */
export function refuseTwice (extensions: readonly Extension[]): void {
  const names = extensions.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) < index)
  must(twice === undefined, `extensions has ${twice} twice`)
}

/** @throws {@link PAY_RECONCILE_INVALID_OPTION} that says what to import, if an extension does what an option wants */
export function refuseOptionsOfExtensions (options: object): void {
  const option = SUBPATHS.find((name) => name in options)
  must(
    option === undefined,
    `${option} needs an extension: import { ${option} } from 'pay-reconcile/${option}' and add ${option}(…) to the ` +
      'option extensions'
  )
}
