import { readFileSync } from 'node:fs'
import ts from 'typescript'

/** A regular expression of the sources: its text and flags, or only where it is when it is computed at run time. */
export interface Pattern {
  /** `packages/x/src/y.ts: /a+/`. */
  readonly place: string
  readonly source?: string
  readonly flags: string
}

/**
 * Finds the regular expressions in TypeScript files: literals, calls of RegExp, and the values of properties named
 * `pattern`, as JSON Schema has them. Ajv compiles those with the flag u.
 *
 * Strings are followed through constants, templates and additions; anything else counts as computed.
 */
export function patternsIn (files: readonly string[]): readonly Pattern[] {
  const sources = files.map((file) =>
    ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  )
  const constants = new Map<string, ts.Expression>()
  for (const source of sources) {
    each(source, (node) => {
      if (!ts.isVariableDeclaration(node) || !ts.isIdentifier(node.name) || node.initializer === undefined) return
      constants.set(`${source.fileName} ${node.name.text}`, node.initializer)
      if (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Export) constants.set(node.name.text, node.initializer)
    })
  }

  const stringOf = (node: ts.Expression): string | undefined => {
    if (ts.isStringLiteralLike(node)) return node.text
    if (ts.isIdentifier(node)) {
      const value = constants.get(`${node.getSourceFile().fileName} ${node.text}`) ?? constants.get(node.text)
      return value && stringOf(value)
    }
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
      return joined([stringOf(node.left), stringOf(node.right)])
    }
    if (ts.isTemplateExpression(node)) {
      return joined([
        node.head.text,
        ...node.templateSpans.flatMap(({ expression, literal }) => [stringOf(expression), literal.text])
      ])
    }
    return undefined
  }

  const found: Pattern[] = []
  const add = (node: ts.Node, source: string | undefined, flags: string): void => {
    found.push({
      place: `${node.getSourceFile().fileName}: ${node.getText().replace(/\s+/g, ' ')}`,
      flags,
      ...source !== undefined && { source }
    })
  }
  for (const source of sources) {
    each(source, (node) => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf('/')
        add(node, node.text.slice(1, end), node.text.slice(end + 1))
      } else if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp') {
        const [pattern, flags] = node.arguments ?? []
        add(node, pattern && stringOf(pattern), (flags && stringOf(flags)) ?? '')
      } else if (ts.isPropertyAssignment(node) && node.name.getText() === 'pattern') {
        add(node, stringOf(node.initializer), 'u')
      } else if (ts.isShorthandPropertyAssignment(node) && node.name.text === 'pattern') {
        add(node, undefined, 'u')
      }
    })
  }
  return found
}

function joined (parts: ReadonlyArray<string | undefined>): string | undefined {
  return parts.includes(undefined) ? undefined : parts.join('')
}

function each (node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node)
  ts.forEachChild(node, (child) => {
    each(child, visit)
  })
}
