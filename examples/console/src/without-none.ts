/** `8 new, 4 wrong`: the counts above zero. A list of zeros is long to hear. */
export function withoutNone (counts: ReadonlyArray<readonly [count: number, what: string]>): string {
  return counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`).join(', ')
}
