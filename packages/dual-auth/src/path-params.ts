/**
 * The names of the parameters in a route's path, as the router reads them: to the next `/`, `-`, `.`, `(` or `?`,
 * and no colon of the two that stand for a literal one. A wildcard has no name.
 */
export function paramsFromPath (path: string): string[] {
  return [...path.replaceAll('::', '').matchAll(/:([^/.(?-]+)/g)].map(([, name]) => String(name))
}
