import type { Beside } from '../tool/beside.ts'
import type { Json, Tool } from '../model.ts'

/**
 * The structure of a result with one more field: what is no field of the route's own, and the model has to know. Claude
 * Code and Codex show the model the structure of a result, and nothing else.
 *
 * A record that has a field of that name, or may have one by its schema, stays as it is.
 *
 * @param structured - an object
 */
export function withBeside (structured: Json, { output }: Pick<Tool, 'output'>, name: Beside, said: unknown): Json {
  const { text, value } = structured as { readonly text: string, readonly value: object }
  if (output?.beside.has(name) === false || Object.hasOwn(value, name)) return structured
  const comma = Object.keys(value).length === 0 ? '' : ','
  return {
    // What the route wrote stays as it was written: numbers keep their digits.
    text: `${text.slice(0, text.lastIndexOf('}'))}${comma}"${name}":${JSON.stringify(said)}}`,
    value: { ...value, [name]: said }
  }
}
