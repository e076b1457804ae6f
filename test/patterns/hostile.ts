import { RegExpParser, type AST } from '@eslint-community/regexpp'

/** How many ways each part of a pattern is written out. */
const VARIANTS = 5

/** What matches most classes, and what few patterns end with. */
const COMMON = ['-', 'a', ' ', '0', '/', '.', '_', '"', '\\', 'A', '\u0001', '\ud800']

/** Makes a string of about so many characters. */
export type Hostile = (length: number) => string

/**
 * Strings that a pattern may be slow on: a part of it again and again, behind what comes before that part, and at the
 * end something that does not belong there. This is what makes a pattern try again from each place, or in each way.
 */
export function hostileStrings ({ source, flags }: RegExp): readonly Hostile[] {
  const unicode = flags.includes('u')
  const tree = new RegExpParser({ ecmaVersion: 2025 }).parsePattern(source, 0, source.length, { unicode })
  const alphabet = [...new Set([...COMMON, ...source])]
  const strings = new Map<string, Hostile>()

  const sample = (element: AST.Element, variant: number): string => {
    switch (element.type) {
      case 'Character':
        return String.fromCodePoint(element.value)
      case 'Quantifier':
        return sample(element.element, variant).repeat(Math.max(1, element.min))
      case 'CharacterSet':
      case 'CharacterClass': {
        const one = new RegExp(`^${element.raw}$`, flags.replace(/[gy]/g, ''))
        const members = alphabet.filter((character) => one.test(character))
        return members[variant % members.length] ?? ''
      }
      case 'Group':
      case 'CapturingGroup':
        return ofAlternatives(element.alternatives, variant)
      case 'Assertion':
        return 'alternatives' in element && !element.negate ? ofAlternatives(element.alternatives, variant) : ''
      default:
        return ''
    }
  }
  const ofAlternatives = (alternatives: readonly AST.Alternative[], variant: number): string =>
    alternatives[variant % alternatives.length]!.elements.map((element) => sample(element, variant)).join('')

  const add = (prefix: string, part: string): void => {
    if (part === '') return
    for (const start of [prefix, '']) {
      for (const end of ['', '\u0001', '\n']) {
        strings.set(
          JSON.stringify([start, part, end]),
          (length) => start + part.repeat(Math.ceil(length / part.length)) + end
        )
      }
    }
  }
  const visit = (alternative: AST.Alternative, before: string, variant: number): void => {
    const parts = partsOf(alternative)
    const samples = parts.map((part) => part.map((element) => sample(element, variant)).join(''))
    parts.forEach((part, index) => {
      const prefix = before + samples.slice(0, index).join('')
      for (let end = index + 1; end <= parts.length; end++) {
        const pump = samples.slice(index, end).join('')
        add(prefix, pump)
        add('', prefix + pump)
      }
      for (const element of part) {
        const inner = element.type === 'Quantifier' ? element.element : element
        if ('alternatives' in inner) { for (const one of inner.alternatives) visit(one, prefix, variant) }
      }
    })
  }
  for (const character of alphabet) add('', character)
  for (let variant = 0; variant < VARIANTS; variant++) {
    for (const alternative of tree.alternatives) visit(alternative, '', variant)
  }
  return [...strings.values()]
}

/** The elements of an alternative, with characters in a row as one part. */
function partsOf ({ elements }: AST.Alternative): readonly AST.Element[][] {
  const parts: AST.Element[][] = []
  for (const element of elements) {
    const last = parts.at(-1)
    if (element.type === 'Character' && last?.at(-1)?.type === 'Character') last.push(element)
    else parts.push([element])
  }
  return parts
}
