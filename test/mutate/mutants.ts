import ts from 'typescript'
import { isOutOfReach, operators, type Change } from './operators.ts'

/** One small error, made in one place of one file. */
export interface Mutant extends Change {
  /** Path in the repository, as `packages/dual-auth/src/keys/hash.ts`. */
  readonly file: string
  readonly line: number
  readonly operator: string
  /** Name of the function that it is in; '' at the top level. */
  readonly within: string
  /** The file, the function, the operator, and which of the mutants of these it is. Edits elsewhere leave it as it is. */
  readonly place: string
  /** The lines as they are and as they become, with every run of white space as one space. */
  readonly before: string
  readonly after: string
}

/** Every mutant of a file, in the order of the source. Not each of them compiles. */
export function mutantsOf (file: string, source: string): readonly Mutant[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.ESNext, true)
  const mutants: Mutant[] = []
  const counts = new Map<string, number>()
  const visit = (node: ts.Node, within: string): void => {
    if (isOutOfReach(node)) return
    for (const [operator, changesAt] of Object.entries(operators)) {
      for (const change of changesAt(node)) {
        const kind = [file, within, operator].filter((part) => part !== '').join(' ')
        const count = (counts.get(kind) ?? 0) + 1
        counts.set(kind, count)
        mutants.push({ file, operator, within, place: `${kind} ${count}`, ...describe(source, change), ...change })
      }
    }
    const inner = nameOf(node) ?? within
    ts.forEachChild(node, (child) => visit(child, inner))
  }
  ts.forEachChild(tree, (node) => visit(node, ''))
  return mutants
}

/** The source with the mutant in it. */
export function mutate (source: string, { start, end, text }: Change): string {
  return source.slice(0, start) + text + source.slice(end)
}

function nameOf (node: ts.Node): string | undefined {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) return node.name?.getText()
  const isAssigned = (ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node)) && node.initializer &&
    (ts.isArrowFunction(node.initializer) || ts.isFunctionExpression(node.initializer))
  return isAssigned ? node.name.getText() : undefined
}

function describe (source: string, { start, end, text }: Change): Pick<Mutant, 'line' | 'before' | 'after'> {
  const from = source.lastIndexOf('\n', start - 1) + 1
  const newline = source.indexOf('\n', end)
  const to = newline === -1 ? source.length : newline
  const tidy = (lines: string): string => lines.replace(/\s+/g, ' ').trim()
  return {
    line: source.slice(0, start).split('\n').length,
    before: tidy(source.slice(from, to)),
    after: tidy(source.slice(from, start) + text + source.slice(end, to))
  }
}
