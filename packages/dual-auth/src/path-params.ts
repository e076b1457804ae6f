const PARAM = /:([^/.(?-]+)/g

/** Whether a path names the owner of keys, also when its optional last parameter is left out. */
export function namesOwner (url: string, ownerParam: string): 'always' | 'sometimes' | 'never' {
  if (!paramsFromPath(url).includes(ownerParam)) return 'never'
  return optionalParamsFromPath(url).includes(ownerParam) ? 'sometimes' : 'always'
}

/**
 * Where a path names an owner: `orgs/` in `/v1/orgs/:org/docs`. The same in all paths that name owners of one kind.
 */
export function placeOfOwner (url: string, ownerParam: string): string {
  const path = url.replaceAll('::', '')
  const found = [...path.matchAll(PARAM)].find(([, name]) => name === ownerParam)
  return path.slice(0, found?.index ?? 0).split('/').slice(-2).join('/')
}

/**
 * The names of a path's parameters, as the router reads them: each ends at the next `/`, `-`, `.`, `(` or `?`, and two
 * colons stand for a literal one.
 */
function paramsFromPath (path: string): string[] {
  return [...path.replaceAll('::', '').matchAll(PARAM)].map(([, name]) => String(name))
}

/** The names of the optional parameters: the router serves the path without its last segment too. */
function optionalParamsFromPath (path: string): string[] {
  return paramsFromPath(/\/:[^/()]*\?\/?$/.exec(path)?.[0] ?? '')
}
