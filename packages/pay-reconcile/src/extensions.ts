import { PAY_RECONCILE_INVALID_OPTION } from './errors.ts'
import type { Extension } from './extension.ts'

/** Subpaths that have an extension of the same name. The core only names them. */
const SUBPATHS: ReadonlySet<string> = new Set(['schedule', 'webhooks', 'csv'])

/** @throws {@link PAY_RECONCILE_INVALID_OPTION} unless each is an extension, and of another import */
export function extensionsFrom (extensions: unknown = []): readonly Extension[] {
  if (!Array.isArray(extensions) || !extensions.every(isExtension)) {
    throw new PAY_RECONCILE_INVALID_OPTION(
      'extensions must be an array of what functions such as schedule() of pay-reconcile/schedule return'
    )
  }
  const names = extensions.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) throw new PAY_RECONCILE_INVALID_OPTION(`extensions has ${twice} twice`)
  return extensions
}

function isExtension (value: unknown): value is Extension {
  const { name, install } = Object(value)
  return typeof name === 'string' && typeof install === 'function'
}

/** @throws {@link PAY_RECONCILE_INVALID_OPTION} that says what to import, if an extension does what an option wants */
export function refuseOptionOfExtension (option: string): void {
  if (!SUBPATHS.has(option)) return
  throw new PAY_RECONCILE_INVALID_OPTION(
    `${option} needs an extension: import { ${option} } from 'pay-reconcile/${option}' and add ${option}(…) to the ` +
      'option extensions'
  )
}
