/**
 * Whether an object has the same key twice. JSON.parse keeps only the last, so it reads fewer strings than there are.
 *
 * @param text - JSON
 */
export function hasRepeatedKeys (text: string): boolean {
  return stringsIn(text) > stringsIn(JSON.stringify(JSON.parse(text)))
}

function stringsIn (text: string): number {
  return (text.match(/"(?:[^"\\]|\\[^])*(?:"|\\?$)/g) ?? []).length
}
