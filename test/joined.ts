/**
 * A regular expression that is too long for a line, from its parts: `joined(/^ab/, /cd$/m)` is `/^abcd$/m`.
 *
 * @param parts - each complete by itself; the flags are those of the last
 */
export function joined (...parts: readonly RegExp[]): RegExp {
  return new RegExp(parts.map(({ source }) => source).join(''), parts.at(-1)?.flags)
}
