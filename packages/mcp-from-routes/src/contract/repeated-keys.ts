/**
 * Whether an object has a key twice, of which JSON.parse takes the last: fewer strings are read then than are written.
 *
 * @param text - JSON
 */
export function hasRepeatedKeys (text: string): boolean {
  return stringsIn(text) > stringsIn(JSON.stringify(JSON.parse(text)))
}

function stringsIn (text: string): number {
  return (text.match(/"(?:[^"\\]|\\[^])*(?:"|\\?$)/g) ?? []).length
}
