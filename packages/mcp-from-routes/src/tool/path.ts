/** A fixed piece of a route's path, or a parameter in it. */
export type PathPart = { readonly text: string } | PathParam

/** The same, with the text as it is in a URL too. */
export type UrlPart = { readonly text: string, readonly encoded: string } | PathParam

/** A parameter of a route's path. */
export interface PathParam {
  readonly param: string
  readonly optional: boolean
}

/** What Fastify calls the parameter of a path's rest, which has slashes. */
export const REST = '*'

// In find-my-way a parameter's name ends at `/`, `-`, `.`, `(`, `?` or the end of the path.
const NAME = /^[^/\-.(?]+/

/**
 * Splits a Fastify route path into its fixed pieces and parameters.
 * @returns the parts in order, or a sentence that says why the path cannot be called as a tool
 * @see [find-my-way](https://github.com/delvedor/find-my-way#supported-path-formats) for the syntax
 */
export function partsFromPath (path: string): readonly UrlPart[] | string {
  const parts: UrlPart[] = []
  let text = ''
  for (let i = 0; i < path.length;) {
    if (path[i] === REST) {
      if (i < path.length - 1 || !text.endsWith('/')) return 'its wildcard is not the last segment of its path'
      return [...parts, fixed(text), { param: REST, optional: false }]
    }
    if (path[i] !== ':' || path[i + 1] === ':') {
      text += path[i]
      i += path[i] === ':' ? 2 : 1
      continue
    }
    const param = NAME.exec(path.slice(i + 1))?.[0]
    if (param === undefined) return 'its path has a parameter without a name. Name it, as in /:id'
    i += 1 + param.length
    if (path[i] === '(') i = endOfGroup(path, i)
    const optional = path[i] === '?'
    if (optional) i += 1
    if (text !== '') parts.push(fixed(text))
    text = ''
    parts.push({ param, optional })
  }
  if (text !== '') parts.push(fixed(text))
  return parts
}

function fixed (text: string): UrlPart {
  // Half of a pair has no encoding. No request reaches such a route.
  return { text, encoded: encodeURI(text.replace(/\p{Surrogate}/gu, '\ufffd')) }
}

/** The index after the parenthesis that closes the one at `start`. */
function endOfGroup (path: string, start: number): number {
  let depth = 0
  for (let i = start; i < path.length; i++) {
    if (path[i] === '\\') i += 1
    else if (path[i] === '(') depth += 1
    else if (path[i] === ')' && --depth === 0) return i + 1
  }
  return path.length
}

/**
 * Builds the path of one request.
 * @param values - what stands for each parameter, not yet encoded; an optional one may be missing
 */
export function pathFromParts (parts: readonly UrlPart[], values: ReadonlyMap<string, string>): string {
  let path = ''
  for (const part of parts) {
    if ('text' in part) {
      path += part.encoded
      continue
    }
    const value = values.get(part.param)
    // Without its optional last parameter `/a/:b?` is the route `/a`.
    if (value === undefined) path = path.replace(/\/$/, '')
    else path += part.param === REST ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value)
  }
  return path === '' ? '/' : path
}
