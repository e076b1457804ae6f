import { isObject, type JsonSchema } from '../schema/json-schema.ts'
import { BESIDE } from '../tool/beside.ts'
import { canonical } from './document.ts'
import type { Part } from './schemas.ts'
import type { ContractTool } from './snapshot.ts'

/** A tool, and what it says of its output: as published, or as declared. */
type Said = readonly [tool: Pick<ContractTool, 'formerly'>, output: JsonSchema]

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
export function compareBeside (old: Said, now: Said): Compared {
  const [[, before], [, after]] = [old, now]
  const gained = namesIn(now).filter((name) => !Object.hasOwn(propertiesOf(before), name))
  const lost = namesIn(old).filter((name) => name === 'notice' && !Object.hasOwn(propertiesOf(after), name))
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

/** The notice of a tool without old names is the route's own. */
function namesIn ([{ formerly = [] }, output]: Said): readonly string[] {
  if (output.additionalProperties !== false) return []
  const properties = propertiesOf(output)
  return Object.entries(BESIDE).flatMap(([name, own]) =>
    canonical(properties[name]) === canonical(own) && (name !== 'notice' || formerly.length > 0) ? [name] : []
  )
}

function without (schema: JsonSchema, names: readonly string[]): JsonSchema {
  if (names.length === 0) return schema
  const kept = Object.entries(propertiesOf(schema)).filter(([name]) => !names.includes(name))
  return { ...schema, properties: Object.fromEntries(kept) }
}

function propertiesOf ({ properties }: JsonSchema): Readonly<Record<string, unknown>> {
  return isObject(properties) ? properties : {}
}
