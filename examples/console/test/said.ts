import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const SOURCES = fileURLToPath(new URL('../src', import.meta.url))

/** Where texts belong, and the views of tools, which are pages of their own. */
const OF_TEXTS = /^(texts\.ts|language\.ts|german\/.*|views\/.*)$/

/** Props, and properties of objects, that people see or hear. */
const SEEN = new Set([
  'actions alt ariaLabel cancel caption children content emptyText error heading helperText label message',
  'nameOf noOptionsText placeholder primary secondary submit tertiary text title titleAccess tooltip unit why',
  'windowTitle aria-description aria-label aria-placeholder aria-roledescription aria-valuetext'
].flatMap((names) => names.split(' ')))

/** Functions that show or say their first argument. */
const SAYING = new Set(['alert', 'announce', 'confirm', 'notify', 'prompt', 'useAnnounceResult', 'useDocumentTitle'])

/** What looks like a text wherever it stands: a word with a capital, and two words of a sentence. */
const LIKE_TEXT = /^\p{Lu}\p{Ll}+([ ,.:…!?]|$)|\p{Ll}{2,}[,.:]? \p{Ll}{2,}[ .…!?]/u

/** What looks like a text, and is read by programs only. */
const WORDS = new Set([
  'ApiError',
  'Bearer ',
  'Escape',
  // Starts of messages of the server.
  'must be a number',
  'must be a whole number',
  // Keys of what is read.
  'heirs of keys',
  'keys of a person'
])

/** Colours, and selectors of CSS. */
const STYLE = /^#[\da-f]{6}$|^&|^attr\(/

/** Operators whose operands are shown. */
const JOINING = new Set([
  ts.SyntaxKind.PlusToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
  ts.SyntaxKind.AmpersandAmpersandToken
])

/** A text in the source of the console that is not one of its texts. */
export interface Said {
  /** `layout/page.tsx:12`. */
  readonly place: string
  readonly text: string
}

/** All of the console that is not one of its texts, and seen, heard, or like a text. */
export function saidInConsole (): readonly Said[] {
  return readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.tsx?$/.test(name) && !OF_TEXTS.test(name)
  ).sort().flatMap((name) => saidIn(name, readFileSync(`${SOURCES}/${name}`, 'utf8')))
}

/** @param name - of the file; of JSX if it ends with `x` */
export function saidIn (name: string, source: string): readonly Said[] {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true)
  const found = new Map<ts.Node, string>()
  const visit = (node: ts.Node): void => {
    for (const [at, text] of shownBy(node)) {
      if (/\p{L}/u.test(text) && !WORDS.has(text) && !STYLE.test(text)) found.set(at, text.trim())
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return [...found].map(([node, text]) => ({
    place: `${name}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}`,
    text
  }))
}

type Shown = ReadonlyArray<readonly [at: ts.Node, text: string]>

function shownBy (node: ts.Node): Shown {
  if (ts.isJsxText(node)) return [[node, node.text]]
  if (ts.isJsxAttribute(node) && SEEN.has(node.name.getText())) return stringsOf(node.initializer)
  if (ts.isPropertyAssignment(node) && SEEN.has(node.name.getText().replaceAll("'", ''))) {
    return stringsOf(node.initializer)
  }
  // Children of an element.
  if (ts.isJsxExpression(node) && !ts.isJsxAttribute(node.parent)) return stringsOf(node.expression)
  if (ts.isCallExpression(node)) {
    const name = ts.isPropertyAccessExpression(node.expression) ? node.expression.name.text : node.expression.getText()
    return SAYING.has(name) ? node.arguments.flatMap((argument) => stringsOf(argument)) : []
  }
  return isLikeText(node) ? [[node, node.text]] : []
}

/** The strings that an expression gives: those of its branches and parts, not of what it calls. */
function stringsOf (node: ts.Node | undefined): Shown {
  if (node === undefined) return []
  if (ts.isStringLiteralLike(node)) return [[node, node.text]]
  if (ts.isTemplateExpression(node)) {
    return [node.head, ...node.templateSpans.map(({ literal }) => literal)].map((part) => [part, part.text] as const)
  }
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse].flatMap((part) => stringsOf(part))
  if (ts.isBinaryExpression(node)) {
    return JOINING.has(node.operatorToken.kind) ? [node.left, node.right].flatMap((part) => stringsOf(part)) : []
  }
  if (ts.isArrayLiteralExpression(node)) return node.elements.flatMap((part) => stringsOf(part))
  if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) return stringsOf(node.body)
  if (ts.isParenthesizedExpression(node) || ts.isJsxExpression(node) || ts.isAsExpression(node)) {
    return stringsOf(node.expression)
  }
  return []
}

/** Whether a string looks like a text. Not what programs read, and errors that name a mistake of the console. */
function isLikeText (node: ts.Node): node is ts.StringLiteralLike {
  if (!ts.isStringLiteralLike(node) || !LIKE_TEXT.test(node.text)) return false
  const { parent } = node
  return !(ts.isNewExpression(parent) && /Error$/.test(parent.expression.getText()))
}
