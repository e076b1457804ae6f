// Two rules of the house that no published plugin has.

/** `@param name - what it is`: TSDoc's form, https://tsdoc.org/pages/tags/param. Adds the dash. */
const paramDash = {
  meta: { type: 'layout', fixable: 'whitespace', schema: [] },
  create: ({ sourceCode, report }) => ({
    Program () {
      for (const comment of sourceCode.getAllComments()) {
        for (const { 0: tag, index } of comment.value.matchAll(/@param [\w.]+(?= )(?! - )/g)) {
          const at = comment.range[0] + 2 + index + tag.length
          report({
            loc: sourceCode.getLocFromIndex(at),
            message: '@param has a dash before its text',
            fix: (fixer) => fixer.insertTextAfterRange([at, at], ' -')
          })
        }
      }
    }
  })
}

/** What a module knows when it is written, and not what it computes, has a name in capitals. */
const capitals = {
  meta: { type: 'suggestion', schema: [] },
  create: ({ report }) => ({
    'Program > VariableDeclaration[kind=const], Program > ExportNamedDeclaration > VariableDeclaration[kind=const]' (
      { declarations }
    ) {
      for (const { id, init } of declarations) {
        if (id.type === 'Identifier' && init !== null && isLiteral(init) && !/^[A-Z][A-Z0-9_]*$/.test(id.name)) {
          report({ node: id, message: `the constant ${id.name} is written in capitals` })
        }
      }
    }
  })
}

function isLiteral (node) {
  switch (node.type) {
    case 'Literal':
      return true
    case 'TemplateLiteral':
      return node.expressions.length === 0
    case 'UnaryExpression':
      return isLiteral(node.argument)
    case 'BinaryExpression':
      return isLiteral(node.left) && isLiteral(node.right)
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
      return isLiteral(node.expression)
    case 'ArrayExpression':
      return node.elements.every(isLiteral)
    case 'ObjectExpression':
      return node.properties.every((property) => property.type === 'Property' && isLiteral(property.value))
    case 'NewExpression':
      return node.callee.name === 'Set' && node.arguments.every(isLiteral)
    default:
      return false
  }
}

export const house = { rules: { 'param-dash': paramDash, capitals } }
