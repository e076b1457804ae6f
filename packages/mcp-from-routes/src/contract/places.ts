/** `filter.status`; a name that is no word stands in brackets: `headers["x-id"]`. */
export function inProperty (path: string, name: string): string {
  if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === '' ? name : `${path}.${name}`
}

/** Any property that has no name in the schema. */
export function everyOther (path: string): string {
  return path === '' ? '*' : `${path}.*`
}

/** An item of an array: `tags[]`, or the one at an index, `point[0]`. */
export function inItem (path: string, index?: number): string {
  return `${path}[${index ?? ''}]`
}
