import ts from 'typescript'

/** A part of a source, from `start` to `end`, and what stands there instead. */
export interface Change {
  readonly start: number
  readonly end: number
  readonly text: string
}

type Operator = (node: ts.Node) => readonly Change[]

const none: readonly Change[] = []
const swap = (node: ts.Node, text: string): readonly Change[] => [{ start: node.getStart(), end: node.getEnd(), text }]

const boundaries: Readonly<Record<string, string>> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' }
const comparisons: Readonly<Record<string, string>> = { '===': '!==', '!==': '===' }
const arithmetic: Readonly<Record<string, string>> = { '+': '-', '-': '+', '*': '/', '/': '*' }
const logical: ReadonlySet<string> = new Set(['&&', '||', '??'])
/** What a `return` is replaced by. The compiler refuses those that the function cannot return. */
const answers = ['undefined', 'true', 'false', '[]', "''"]
/** Properties whose value is prose. */
const prose: ReadonlySet<string> = new Set(['description', 'summary', 'title'])

/** Each operator gives the changes that it makes at one node. Errors of the kind that a reviewer could miss. */
export const operators: Readonly<Record<string, Operator>> = {
  'condition turned': (node) => isCondition(node) ? swap(node, `!(${node.getText()})`) : none,

  'guard dropped': (node) => ts.isIfStatement(node) && !node.elseStatement ? swap(node, ';') : none,

  'boundary moved': (node) => operatorFrom(boundaries, node),

  'comparison turned': (node) => isCondition(node) ? none : operatorFrom(comparisons, node),

  'arithmetic turned': (node) => operatorFrom(arithmetic, node),

  'negation dropped': (node) => ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken && !isCondition(node)
    ? swap(node, node.operand.getText())
    : none,

  'operand dropped': (node) => ts.isBinaryExpression(node) && logical.has(node.operatorToken.getText())
    ? [node.left, node.right].flatMap((kept) => swap(node, `(${kept.getText()})`))
    : none,

  'return replaced': (node) => {
    const value = returned(node)
    return value ? answers.filter((answer) => answer !== value.getText()).flatMap((answer) => swap(value, answer)) : none
  },

  'argument dropped': (node) => (ts.isCallExpression(node) || ts.isNewExpression(node)) && node.arguments ? without(node.arguments, node.arguments.length - 1) : none,

  'call dropped': (node) => {
    if (ts.isExpressionStatement(node)) return swap(node, ';')
    // one of a chain: `.where(…)`, `.filter(…)`
    return ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && ts.isCallExpression(node.expression.expression)
      ? swap(node, node.expression.expression.getText())
      : none
  },

  'property dropped': (node) => ts.isObjectLiteralExpression(node) ? node.properties.flatMap((_, index) => without(node.properties, index)) : none,

  'literal changed': (node) => {
    if (node.kind === ts.SyntaxKind.TrueKeyword) return swap(node, 'false')
    if (node.kind === ts.SyntaxKind.FalseKeyword) return swap(node, 'true')
    if (ts.isNumericLiteral(node)) return swap(node, String(Number(node.text) + 1))
    // with a space it is a message
    return ts.isStringLiteral(node) && !node.text.includes(' ') ? swap(node, node.text === '' ? "'changed'" : "''") : none
  }
}

/** Types and imports do nothing at run time, names of properties are the compiler's concern, and prose is not tested. */
export function isOutOfReach (node: ts.Node): boolean {
  return ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) || ts.isModuleDeclaration(node) || (ts.isPropertyAssignment(node) && prose.has(node.name.getText())) ||
    (ts.isStringLiteral(node) && ts.isPropertyAssignment(node.parent) && node.parent.name === node)
}

function isCondition (node: ts.Node): boolean {
  const { parent } = node
  return (ts.isIfStatement(parent) && parent.expression === node) || (ts.isWhileStatement(parent) && parent.expression === node) ||
    (ts.isConditionalExpression(parent) && parent.condition === node)
}

function returned (node: ts.Node): ts.Expression | undefined {
  if (ts.isReturnStatement(node)) return node.expression
  return ts.isArrowFunction(node) && !ts.isBlock(node.body) ? node.body : undefined
}

function operatorFrom (table: Readonly<Record<string, string>>, node: ts.Node): readonly Change[] {
  if (!ts.isBinaryExpression(node)) return none
  const other = table[node.operatorToken.getText()]
  return other === undefined ? none : swap(node.operatorToken, other)
}

/** A list without one of its nodes and the comma that belongs to it. */
function without (list: ts.NodeArray<ts.Node>, index: number): readonly Change[] {
  const node = list[index]
  if (!node || (ts.isPropertyAssignment(node) && prose.has(node.name.getText()))) return none
  const [before, next] = [list[index - 1], list[index + 1]]
  if (next) return [{ start: node.getStart(), end: next.getStart(), text: '' }]
  return [{ start: before?.getEnd() ?? node.getStart(), end: node.getEnd(), text: '' }]
}
