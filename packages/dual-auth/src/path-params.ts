/**
 * The names of the parameters in a route's path, as the router reads them: to the next `/`, `-`, `.`, `(` or `?`,
 * and no colon of the two that stand for a literal one. A wildcard, which is always the last character, is `*`.
 */
export function paramsFromPath (path: string): string[] {
  const names = [...path.replaceAll('::', '').matchAll(/:([^/.(?-]+)/g)].map(([, name]) => String(name))
  return path.endsWith('*') ? [...names, '*'] : names
}

/** The names of those that a request may leave out: the router serves the path without its last segment too. */
export function optionalParamsFromPath (path: string): string[] {
  return paramsFromPath(/\/:[^/()]*\?\/?$/.exec(path)?.[0] ?? '')
}
