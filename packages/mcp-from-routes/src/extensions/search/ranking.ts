import type { McpTool } from '../../types.ts'
import { isObject } from '../../schema/json-schema.ts'

/** Words that questions have whatever they are about, and none that a tool is likely to be named for. */
const STOP_WORDS: ReadonlySet<string> = new Set(wordsOf(
  'a about am an and any are as at be been but by can could did do does for from had has have how i if in into is it ' +
    'its let may me might mine must my no not of on or our please shall she should so some than that the their them ' +
    'then there these they this those to too us was we were what when where which who whom whose why will with would ' +
    'you your yours'
))

/** How many different words of a query count. */
const MAX_WORDS = 12
/** Words that begin like one of a tool count from this length on, as `repo` does for `repository`. */
const MIN_PREFIX = 3
/** How much of a word counts that a tool's only begins with. */
const PREFIX = 0.5
/** What a word counts for, by where a tool has it. */
const IN_NAME = 3
const IN_TITLE = 2
const IN_ARGUMENTS = 1
const IN_DESCRIPTION = 1
/** Tools that score less than this part of the best one match only words that most have. */
const CUT = 0.4

/** A tool by its words. */
interface Indexed {
  /** The words of its name. */
  readonly name: string
  /** What each counts for. */
  readonly words: ReadonlyMap<string, number>
  readonly inName: ReadonlySet<string>
}

/** Sorts tools by how well they fit a query, those that fit best first, and leaves out the others. */
export type Rank = <T extends { readonly public: McpTool }>(tools: readonly T[], query: string) => readonly T[]

/** @returns a function that reads the words of each tool once */
export function ranking (): Rank {
  const known = new WeakMap<McpTool, Indexed>()
  return (tools, query) => {
    const all = wordsOf(query)
    if (all.length === 0) return tools
    const words = [...new Set(telling(all))].slice(0, MAX_WORDS)
    const name = all.join(' ')
    const indexed = tools.map((tool) => {
      const index = known.get(tool.public) ?? indexOf(tool.public)
      known.set(tool.public, index)
      return { tool, index, score: 0, named: 0 }
    })
    for (const word of words) {
      const hits = indexed.flatMap((one) => {
        const found = bestHit(one.index, word)
        return found === undefined ? [] : [{ one, ...found }]
      })
      // What many tools have says little. Only the tools that the caller sees count: the order must not tell of others.
      const rarity = Math.log(1 + tools.length / hits.length)
      for (const { one, weight, inName } of hits) {
        one.score += weight * rarity
        if (inName) one.named += 1
      }
    }
    // Of tools with the same words, the one that is named for nothing else is meant.
    const scored = indexed.map(({ tool, index, score, named }) => ({
      tool,
      score: index.name === name ? Infinity : score * (1 + Math.min(1, named / index.inName.size))
    }))
    const best = scored.reduce((most, { score }) => score === Infinity ? most : Math.max(most, score), 0)
    // The order of equals stays: that of their names.
    return scored.filter(({ score }) => score > 0 && score >= CUT * best).sort((a, b) =>
      a.score === b.score ? 0 : b.score - a.score
    ).map(({ tool }) => tool)
  }
}

function indexOf ({ name, title = '', description, inputSchema: { properties }, _meta }: McpTool): Indexed {
  const words = new Map<string, number>()
  const add = (text: string, weight: number): void => {
    for (const word of wordsOf(text)) words.set(word, Math.max(weight, words.get(word) ?? 0))
  }
  const hint = _meta?.['anthropic/searchHint']
  add(name, IN_NAME)
  add(typeof hint === 'string' ? hint : '', IN_NAME)
  add(title, IN_TITLE)
  add(description, IN_DESCRIPTION)
  add(Object.keys(isObject(properties) ? properties : {}).join(' '), IN_ARGUMENTS)
  const named = wordsOf(name)
  return { name: named.join(' '), words, inName: new Set(telling(named)) }
}

/** The words without stop words, unless there are no others. */
function telling (words: readonly string[]): readonly string[] {
  const some = words.filter((word) => !STOP_WORDS.has(word))
  return some.length > 0 ? some : words
}

function bestHit (
  { words, inName }: Indexed,
  word: string
): { readonly weight: number, readonly inName: boolean } | undefined {
  const exact = words.get(word)
  if (exact !== undefined) return { weight: exact, inName: inName.has(word) }
  if (word.length < MIN_PREFIX || STOP_WORDS.has(word)) return undefined
  let weight = 0
  let isNamed = false
  for (const [other, of] of words) {
    if (STOP_WORDS.has(other)) continue
    if (!other.startsWith(word) && !(other.length >= MIN_PREFIX && word.startsWith(other))) continue
    weight = Math.max(weight, of * PREFIX)
    isNamed ||= inName.has(other)
  }
  return weight === 0 ? undefined : { weight, inName: isNamed }
}

/** The words of a text, those of `listOrders` and `list_orders` too, without the endings of English plurals. */
function wordsOf (text: string): readonly string[] {
  const words = text.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return words.map((word) =>
    word.length < 4 ? word : word.replace(/ies$/, 'y').replace(/(ch|sh|ss|x)es$/, '$1').replace(/([^s])s$/, '$1')
  )
}
