import { isObject, type JsonSchema } from '../schema/json-schema.ts'
import { BESIDE } from '../tool/beside.ts'
import { canonical } from './document.ts'
import type { Part } from './schemas.ts'

/** Two output schemas, as far as the route decides them, and what changed beside that. */
interface Compared {
  readonly before: JsonSchema
  readonly after: JsonSchema
  readonly findings: readonly Part[]
}

/**
 * What results say beside the route's own fields: headers, and the new name of the tool. A closed record names them,
 * where an open one has room for them unsaid, so a new one breaks as few callers. The notice ends with the last old
 * name, which is a finding of its own.
 */
export function compareBeside (before: JsonSchema, after: JsonSchema): Compared {
  const [old, now] = [namesIn(before), namesIn(after)]
  const gained = now.filter((name) => !Object.hasOwn(propertiesOf(before), name))
  const lost = old.filter((name) => name === 'notice' && !Object.hasOwn(propertiesOf(after), name))
  return {
    before: without(before, lost),
    after: without(after, gained),
    findings: gained.map((name): Part => ({
      bump: 'minor',
      path: `output.${name}`,
      change: 'none → beside the fields of the route',
      why: 'callers that do not know it ignore it',
      certain: true
    }))
  }
}

function namesIn (schema: JsonSchema): readonly string[] {
  const properties = propertiesOf(schema)
  return schema.additionalProperties === false
    ? Object.entries(BESIDE).flatMap(([name, own]) => canonical(properties[name]) === canonical(own) ? [name] : [])
    : []
}

function without (schema: JsonSchema, names: readonly string[]): JsonSchema {
  if (names.length === 0) return schema
  const kept = Object.entries(propertiesOf(schema)).filter(([name]) => !names.includes(name))
  return { ...schema, properties: Object.fromEntries(kept) }
}

function propertiesOf ({ properties }: JsonSchema): Readonly<Record<string, unknown>> {
  return isObject(properties) ? properties : {}
}
