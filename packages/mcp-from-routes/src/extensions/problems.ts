/** The end of a message: one problem on its line, or each of several on a line of its own. */
export function textFromProblems (problems: readonly string[]): string {
  return problems.length === 1 ? ` ${String(problems[0])}` : `\n${problems.map((problem) => `- ${problem}`).join('\n')}`
}
