import { isObject, listIn, mapSubschemas, type JsonSchema } from './json-schema.ts'

/**
 * Leaves out the properties that are not part of a request (`readOnly`), or not part of a response (`writeOnly`). A
 * property that a request must have stays, whatever it is marked as: the route's validator asks for it.
 *
 * @param schema - of 2020-12, with its `$defs`
 * @see [OpenAPI 3: readOnly and writeOnly](https://spec.openapis.org/oas/v3.0.4.html#fixed-fields-20)
 */
export function withoutMarked (schema: JsonSchema, mark: 'readOnly' | 'writeOnly'): JsonSchema {
  const wanted = mark === 'readOnly' ? requiredElsewhere(schema) : new Set<string>()

  function rewritten (part: JsonSchema): JsonSchema {
    const out = mapSubschemas(part, (sub) => isObject(sub) ? rewritten(sub) : sub)
    if (!isObject(part.properties) || !isObject(out.properties)) return out
    const own = new Set(mark === 'readOnly' ? listIn(part.required) : [])
    const marked = Object.entries(part.properties).filter(([name, property]) =>
      isObject(property) && property[mark] === true && !own.has(name) && !wanted.has(name)
    ).map(([name]) => name)
    const left = Object.fromEntries(Object.entries(out.properties).filter(([name]) => !marked.includes(name)))
    if (marked.length === 0 || Number(part.minProperties ?? 0) > Object.keys(left).length) return out
    const { required, additionalProperties, ...rest }: JsonSchema = { ...out, properties: left }
    const still = listIn(required).filter((name) => !marked.includes(String(name)))
    return {
      ...rest,
      ...still.length > 0 && { required: still },
      // A response that has the property all the same is still what was promised.
      ...additionalProperties !== undefined && mark === 'readOnly' && { additionalProperties }
    }
  }

  return rewritten(schema)
}

/** The names that some part requires and another one describes. */
function requiredElsewhere (schema: JsonSchema): Set<string> {
  const names = new Set<string>()
  const visit = (part: JsonSchema): void => {
    const own = Object(part.properties) as object
    for (
      const name of [
        ...listIn(part.required),
        ...isObject(part.dependentRequired) ? Object.values(part.dependentRequired).flatMap(listIn) : []
      ]
    ) {
      if (!Object.hasOwn(own, String(name)) || part.dependentRequired !== undefined) names.add(String(name))
    }
    mapSubschemas(part, (sub) => {
      if (isObject(sub)) visit(sub)
    })
  }
  visit(schema)
  return names
}
