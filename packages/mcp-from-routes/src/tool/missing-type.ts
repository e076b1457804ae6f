/** Types that programs have and JSON has not, and what to describe in their place. */
const INSTEAD: ReadonlyArray<readonly [type: RegExp, instead: string]> = [
  [/\bdate\b/i, 'JSON has no dates. Describe a string with the format date-time and convert it: in Zod z.iso.datetime().transform((text) => new Date(text)), in TypeBox Type.String({ format: \'date-time\' })'],
  [/\bbigint\b/i, 'JSON has no big integers. Describe a string of digits and convert it: in Zod z.string().regex(/^[0-9]+$/).transform(BigInt)'],
  [/\bmap\b/i, 'JSON has no maps. Describe an object with additionalProperties: in Zod z.record()'],
  [/\bset\b/i, 'JSON has no sets. Describe an array with uniqueItems: in Zod z.array()'],
  [/\b(undefined|void)\b/i, 'JSON has no undefined. Make the property optional, or describe null'],
  [/\bnan\b/i, 'JSON has no NaN. Describe null'],
  [/\btransforms?\b/i, 'Say what the transform returns: in Zod .pipe(z.string()) after it'],
  [/\b(uint8array|custom|symbols?|functions?)\b/i, 'Describe the JSON value that is sent in its place']
]

/**
 * What to write for a type that JSON lacks.
 * @param problem - names the type
 * @returns sentences to append to the problem, or nothing where there is no advice
 */
export function insteadOf (problem: string): string {
  const found = INSTEAD.find(([type]) => type.test(problem))
  return found === undefined ? '' : `. ${found[1]}`
}
