/** Elements whose content is nothing to read. */
const SILENT = new Set(['script', 'style', 'template', 'noscript', 'iframe', 'svg', 'head', 'title'])

/** Elements that begin and end a line, and those between which there is an empty one. */
const LINES = new Set(['br', 'div', 'li', 'tr', 'dt', 'dd', 'section', 'article', 'figure', 'figcaption', 'hr'])
const PARAGRAPHS = new Set(['p', 'ul', 'ol', 'dl', 'table', 'blockquote', 'pre', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'])

const ELEMENT = /^(\/?)([a-z][a-z0-9]*)/i

/** Whether a description has elements or entities of HTML. */
export function isHtml (text: string): boolean {
  return /<\/?[a-z][a-z0-9]*(?:[\s/][^<>]*)?>|&(?:[a-z][a-z0-9]{1,7}|#\d{1,7}|#x[0-9a-f]{1,6});/i.test(text)
}

/**
 * The text of an HTML fragment: paragraphs and the items of lists are lines, entities are characters, and scripts and
 * styles are left out. It takes time in proportion to the length.
 *
 * @param keepsLines - whether line breaks are meant, as in the editors of some systems
 */
export function textOfHtml (html: string, keepsLines: boolean): string {
  const parts: string[] = []
  /** How many line breaks come before the next text. */
  let breaks = 0
  const add = (text: string): void => {
    const shown = breaks > 0 ? text.trimStart() : text
    if (shown === '') return
    parts.push('\n'.repeat(breaks), shown)
    breaks = 0
  }
  const blanks = keepsLines ? /[^\S\n]+/g : /\s+/g
  const endOfTag = tagEnds(html)
  let silent: string | undefined
  for (let at = 0; at < html.length;) {
    const open = html.indexOf('<', at)
    const end = open === -1 ? html.length : open
    if (silent === undefined) add(decoded(html.slice(at, end)).replace(blanks, ' '))
    if (open === -1) break
    const [, slash, name = ''] = ELEMENT.exec(html.slice(open + 1, open + 20)) ?? []
    const element = name.toLowerCase()
    if (name === '' && !/[!?/]/.test(html[open + 1] ?? '')) {
      // A sign, as in "< 5 cm".
      if (silent === undefined) add('<')
      at = open + 1
      continue
    }
    if (silent === undefined) {
      breaks = Math.max(breaks, breaksAt(element))
      if (slash === '' && SILENT.has(element)) silent = element
    } else if (slash === '/' && element === silent) silent = undefined
    at = endOfTag(open)
  }
  return parts.join('').replace(/ {2,}/g, ' ').replace(/ ?\n ?/g, '\n').replace(/\n{3,}/g, '\n\n').trim()
}

/** @returns says where a tag or comment ends; attributes in quotes may have its sign */
function tagEnds (html: string): (open: number) => number {
  /** Whether quotes pair up: looked for once, since that may read the whole text. */
  let isPaired = true
  return (open) => {
    const isComment = html.startsWith('<!--', open)
    if (isPaired && !isComment) {
      const tag = /<(?:[^"'>]|"[^"]*"|'[^']*')*>/y
      tag.lastIndex = open
      if (tag.test(html)) return tag.lastIndex
      isPaired = false
    }
    const mark = isComment ? '-->' : '>'
    const close = html.indexOf(mark, open + 1)
    return close === -1 ? html.length : close + mark.length
  }
}

function breaksAt (element: string): number {
  if (PARAGRAPHS.has(element)) return 2
  return LINES.has(element) ? 1 : 0
}

/** The names of the characters from 160 to 255. */
const LATIN =
  ('nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 ' +
    'acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml ' +
    'Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc ' +
    'Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml ' +
    'aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc ' +
    'otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml').split(' ')

const NAMES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(LATIN.map((name, index) => [name, String.fromCodePoint(160 + index)])),
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  sbquo: '‚',
  ldquo: '“',
  rdquo: '”',
  bdquo: '„',
  hellip: '…',
  bull: '•',
  euro: '€',
  trade: '™',
  OElig: 'Œ',
  oelig: 'œ',
  Scaron: 'Š',
  scaron: 'š',
  ensp: ' ',
  emsp: ' ',
  thinsp: ' ',
  zwnj: '\u200c',
  zwj: '\u200d',
  lsaquo: '‹',
  rsaquo: '›',
  rarr: '→',
  larr: '←',
  le: '≤',
  ge: '≥',
  ne: '≠',
  minus: '−'
}

function decoded (text: string): string {
  return text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z][a-z0-9]{1,7});/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return Object.hasOwn(NAMES, name) ? NAMES[name]! : whole
    const code = name[1]!.toLowerCase() === 'x' ? parseInt(name.slice(2), 16) : Number(name.slice(1))
    const isCharacter = code > 31 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
    return isCharacter ? String.fromCodePoint(code) : ' '
  })
}
