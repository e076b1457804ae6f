import { MAX_DEPTH } from '../depth.ts'
import { excerpt } from './excerpt.ts'
import { isObject } from '../schema/json-schema.ts'
import { ANYTHING, type Plan } from '../schema/plan.ts'
import { ANY_TYPE, NUMBER, TYPE, typeName, typeNames, typeOfValue } from '../schema/type-bits.ts'

/** How values of one place of the request are read. */
export interface Reading {
  /** Whether the route's validator would convert a value of another type, so that it must be read, or refused, here. */
  readonly coerces: boolean
  /** Whether the validator would drop properties that the schema does not allow. */
  readonly drops: boolean
  /** Whether values travel as text, which the validator converts. */
  readonly isText?: boolean
  /** What is said of a value that nests too deeply. */
  readonly tooDeep?: string
}

/** Why a value cannot be sent, for the model. */
export interface Problem {
  readonly problem: string
}

/** How values in a URL are read: as they are, but for numbers that are not the ones that were sent. */
export const IN_URL: Reading = { coerces: false, drops: false, isText: true }

/** Whether a value can be sent as it is. */
export function isTyped (plan: Plan, value: unknown, reading: Reading): boolean {
  if (
    plan.isScalar && (plan.types & typeOfValue(value)) !== 0 &&
    (typeof value !== 'number' || Number.isSafeInteger(value))
  ) return true
  if (reading.isText === true && (losesDigits(value, typesOf(plan)) || changesInText(value, typesOf(plan)))) {
    return false
  }
  return fits(plan, value, reading, TYPES, 0, budgetOf())
}

/**
 * Reads a value that is not what its schema says, where only one value can be meant:
 * - null, for an optional property that cannot be null: it is left out
 * - the JSON text of the array or object that the schema asks for
 * - a numeral for a number
 *
 * @param label - the argument as named in errors
 */
export function typedValue (
  plan: Plan,
  value: unknown,
  label: string,
  reading: Reading
): { readonly value: unknown } | Problem {
  return new Reader(reading).read(plan, value, label, 0)
}

export function takesNull (plan: Plan): boolean {
  return fits(plan, null, { coerces: true, drops: false }, EXACTLY, 0, budgetOf())
}

/** What a text is whose first character is one of these. */
const STARTS: Readonly<Record<string, number>> = { '[': TYPE.array, '{': TYPE.object }

/** The array or object in a text, where the plan takes one of those and no string. */
export function structureIn (plan: Plan, text: string): unknown {
  const types = typesOf(plan)
  const first = text.trimStart()[0] ?? ''
  if ((types & TYPE.string) !== 0 || (types & (STARTS[first] ?? 0)) === 0) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** How closely a value is compared with a plan. */
type Closeness = typeof TYPES | typeof CONDITION | typeof EXACTLY
const TYPES = 0
/** Listed values and required properties too. */
const CONDITION = 1
/** And whether all properties are named: the branch of a union that names them is the one that is meant. */
const EXACTLY = 2

/**
 * How many values are looked at as values of the branches of unions: branches in branches multiply. Each value outside
 * of them allows some more.
 */
const BUDGET = 200_000
const ALLOWANCE = 16

interface Budget {
  left: number
  /** In how many unions the value is. */
  unions: number
}

function budgetOf (): Budget {
  return { left: BUDGET, unions: 0 }
}

/** @returns whether one more value may be looked at */
function mayLook (budget: Budget): boolean {
  budget.left += budget.unions === 0 ? ALLOWANCE : -1
  return budget.left >= 0
}

/** Whether a listed value, such as `type: 'image'`, says that an object is not of a branch. */
function isExcluded ({ properties, parts }: Plan, value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null || depth > 4) return false
  for (const [name, { values }] of properties) {
    if (
      values !== undefined && Object.hasOwn(value, name) &&
      !values.has((value as Readonly<Record<string, unknown>>)[name])
    ) return true
  }
  return parts.some((part) => isExcluded(part, value, depth + 1))
}

/** Whether a value is sent as it is. */
function fits (
  plan: Plan,
  value: unknown,
  reading: Reading,
  closeness: Closeness,
  depth: number,
  budget: Budget
): boolean {
  const type = typeOfValue(value)
  if (typeof value === 'number' && numberProblem(value, plan.types) !== undefined) return false
  if ((plan.types & type) === 0) {
    if (reading.coerces || closeness !== TYPES) return false
    if (reading.isText === true && (losesDigits(value, plan.types) || changesInText(value, plan.types))) return false
    plan = ANYTHING
  }
  if (closeness !== TYPES && plan.values?.has(value) === false) return false
  if (plan.isScalar) return true
  if (!mayLook(budget)) return false
  const isRecord = type === TYPE.object
  if (isRecord || type === TYPE.array) {
    if (depth >= MAX_DEPTH) return false
    if (
      isRecord
        ? !recordFits(plan, value as Readonly<Record<string, unknown>>, reading, closeness, depth + 1, budget)
        : !listFits(plan, value as readonly unknown[], reading, closeness, depth + 1, budget)
    ) return false
  }
  if (plan.isAlone) return true
  for (const part of plan.parts) if (!fits(part, value, reading, closeness, depth, budget)) return false
  for (const union of plan.unions) {
    budget.unions++
    const isOne = union.some((branch) =>
      !isExcluded(branch, value) && fits(branch, value, reading, EXACTLY, depth, budget)
    ) ||
      (!reading.coerces && union.some((branch) => fits(branch, value, reading, TYPES, depth, budget)))
    budget.unions--
    if (!isOne) return false
  }
  if (
    plan.condition !== undefined &&
    !fits(chosen(plan.condition, value, reading, depth, budget), value, reading, closeness, depth, budget)
  ) return false
  for (const [name, dependent] of plan.dependents) {
    if (
      isRecord && Object.hasOwn(value as object, name) && !fits(dependent, value, reading, closeness, depth, budget)
    ) return false
  }
  return true
}

function recordFits (
  plan: Plan,
  value: Readonly<Record<string, unknown>>,
  reading: Reading,
  closeness: Closeness,
  depth: number,
  budget: Budget
): boolean {
  if (closeness !== TYPES) { for (const name of plan.required) if (!Object.hasOwn(value, name)) return false }
  for (const name in value) {
    const own = plan.properties.get(name)
    const matching = plan.patterns.length === 0 ? undefined : plansOfPatterns(plan, name)
    if (own === undefined && !matching?.length) {
      if (plan.others === false && (reading.drops || closeness !== TYPES)) return false
      if (closeness === EXACTLY && plan.others === undefined && plan.isRecord) return false
    }
    const rest = own ?? (matching?.length ? undefined : plan.others || ANYTHING)
    if (rest !== undefined && !fits(rest, value[name], reading, closeness, depth, budget)) return false
    if (matching !== undefined) {
      for (const pattern of matching) if (!fits(pattern, value[name], reading, closeness, depth, budget)) return false
    }
  }
  return true
}

function listFits (
  { prefixItems, items }: Plan,
  value: readonly unknown[],
  reading: Reading,
  closeness: Closeness,
  depth: number,
  budget: Budget
): boolean {
  let index = 0
  for (const item of value) {
    if (!fits(prefixItems[index++] ?? items, item, reading, closeness, depth, budget)) return false
  }
  return true
}

function chosen (
  condition: NonNullable<Plan['condition']>,
  value: unknown,
  reading: Reading,
  depth: number,
  budget: Budget
): Plan {
  return fits(condition.if, value, { ...reading, coerces: true }, CONDITION, depth, budget)
    ? condition.then
    : condition.else
}

function plansOfPatterns ({ patterns }: Plan, name: string): readonly Plan[] {
  return patterns.filter(([pattern]) => pattern.test(name)).map(([, plan]) => plan)
}

/** A value that can be sent. */
interface Read {
  readonly value: unknown
  /** How closely it fits its plan. */
  readonly closeness: Closeness
}

/** Reads what does not fit. */
class Reader {
  readonly #reading: Reading
  readonly #budget = budgetOf()

  constructor (reading: Reading) {
    this.#reading = reading
  }

  read (plan: Plan, given: unknown, at: string, depth: number): Read | Problem {
    if (!plan.isScalar && !mayLook(this.#budget)) {
      return { problem: `${at} fits the alternatives of its schema in too many ways. Send less at once` }
    }
    const typed = this.#ofType(plan, given, at)
    if ('problem' in typed) return typed
    let { value, closeness } = typed
    if (closeness === TYPES) plan = ANYTHING
    if (plan.values?.has(value) === false) closeness = TYPES
    const steps: Array<(value: unknown) => Read | Problem> = []
    if (typeof value === 'object' && value !== null) {
      if (depth >= MAX_DEPTH) {
        return { problem: this.#reading.tooDeep ?? `${at.replace(/\/.*/s, '')} is nested too deeply` }
      }
      steps.push(
        Array.isArray(value)
          ? (list) => this.#list(plan, list as readonly unknown[], at, depth + 1)
          : (record) => this.#record(plan, record as Readonly<Record<string, unknown>>, at, depth + 1)
      )
    }
    for (const part of plan.parts) steps.push((value) => this.read(part, value, at, depth))
    for (const union of plan.unions) steps.push((value) => this.#branch(union, value, at, depth))
    const { condition } = plan
    if (condition !== undefined) {
      steps.push((value) => this.read(chosen(condition, value, this.#reading, depth, this.#budget), value, at, depth))
    }
    for (const [name, dependent] of plan.dependents) {
      steps.push((value) =>
        isObject(value) && Object.hasOwn(value, name)
          ? this.read(dependent, value, at, depth)
          : { value, closeness: EXACTLY }
      )
    }
    for (const step of steps) {
      const result = step(value)
      if ('problem' in result) return result
      value = result.value
      closeness = least(closeness, result.closeness)
    }
    return { value, closeness }
  }

  /** The value as one of the plan's types; not close if it is of none, which the route refuses. */
  #ofType (plan: Plan, value: unknown, at: string): Read | Problem {
    const { types } = plan
    if (typeof value === 'number') {
      const problem = numberProblem(value, typesOf(plan))
      if (problem !== undefined) return { problem: `${at} ${problem}` }
    }
    const { coerces, isText = false } = this.#reading
    if (isText && losesDigits(value, typesOf(plan))) {
      return { problem: `${at} has more digits than a number keeps, and this tool takes a number here` }
    }
    if (isText && changesInText(value, typesOf(plan))) return { problem: mismatch(plan, value, at) }
    if ((types & typeOfValue(value)) !== 0) return { value, closeness: EXACTLY }
    if (coerces && losesDigits(value, typesOf(plan))) {
      return { problem: `${at} has more digits than a number keeps, and this tool takes a number here` }
    }
    if (!coerces) return { value, closeness: TYPES }
    const read = typeof value === 'string' ? numberIn(value, types) ?? structureIn(plan, value) : undefined
    return read === undefined ? { problem: mismatch(plan, value, at) } : { value: read, closeness: EXACTLY }
  }

  #record (plan: Plan, value: Readonly<Record<string, unknown>>, at: string, depth: number): Read | Problem {
    const { coerces, drops } = this.#reading
    const entries: Array<readonly [string, unknown]> = []
    let isChanged = false
    let closeness: Closeness = [...plan.required].every((name) => Object.hasOwn(value, name)) ? EXACTLY : TYPES
    for (const [name, given] of Object.entries(value)) {
      const place = `${at}/${excerpt(name)}`
      const own = plan.properties.get(name)
      const plans = [...own === undefined ? [] : [own], ...plansOfPatterns(plan, name)]
      if (plans.length === 0) {
        if (plan.others === false && drops) return { problem: unknownProperty(plan, place, at) }
        if (plan.others === false) closeness = TYPES
        else if (plan.others === undefined && plan.isRecord) closeness = least(closeness, CONDITION)
        plans.push(plan.others || ANYTHING)
      }
      if (given === null && coerces && !plan.required.has(name) && !plans.every(takesNull)) {
        isChanged = true
        continue
      }
      let read: unknown = given
      for (const one of plans) {
        const result = this.read(one, read, place, depth)
        if ('problem' in result) return result
        read = result.value
        closeness = least(closeness, result.closeness)
      }
      entries.push([name, read])
      isChanged ||= read !== given
    }
    return { value: isChanged ? Object.fromEntries(entries) : value, closeness }
  }

  #list ({ prefixItems, items }: Plan, value: readonly unknown[], at: string, depth: number): Read | Problem {
    const read: unknown[] = []
    let closeness: Closeness = EXACTLY
    for (const [index, item] of value.entries()) {
      const result = this.read(prefixItems[index] ?? items, item, `${at}/${index}`, depth)
      if ('problem' in result) return result
      read.push(result.value)
      closeness = least(closeness, result.closeness)
    }
    return { value: read.every((item, index) => item === value[index]) ? value : read, closeness }
  }

  /** The value as the branch reads it that it is closest to. Which one is meant must not depend on a guess. */
  #branch (all: readonly Plan[], value: unknown, at: string, depth: number): Read | Problem {
    const meant = all.filter((branch) => !isExcluded(branch, value))
    const union = meant.length === 0 ? all : meant
    this.#budget.unions++
    const results = union.map((branch) => this.read(branch, value, at, depth))
    this.#budget.unions--
    const possible = results.filter((result) => !('problem' in result)) as readonly Read[]
    const closest = Math.max(...possible.map((result) => result.closeness))
    const best = possible.filter((result) => result.closeness === closest)
    const [first = { problem: mismatch({ ...ANYTHING, unions: [union] }, value, at) }, ...others] = [
      ...best.filter((result) => result.value === value),
      ...best
    ]
    if ('problem' in first) {
      const near = results.filter((_, index) => (typesOf(union[index] as Plan) & typeOfValue(value)) !== 0)
      return near.length === 1 && near[0] !== undefined ? near[0] : first
    }
    if (first.value === value || others.every((other) => JSON.stringify(other.value) === JSON.stringify(first.value))) {
      return first
    }
    return { problem: mismatch({ ...ANYTHING, unions: [union] }, value, at) }
  }
}

function least (a: Closeness, b: Closeness): Closeness {
  return a < b ? a : b
}

/** The types that a plan takes, with its parts and unions, or more. */
function typesOf ({ types, parts, unions }: Plan, depth = 4): number {
  if (depth === 0) return types
  let all = types
  for (const part of parts) all &= typesOf(part, depth - 1)
  for (const union of unions) all &= union.reduce((some, branch) => some | typesOf(branch, depth - 1), 0)
  return all
}

/** How many listed values an error names. */
const MAX_VALUES = 50

function mismatch (plan: Plan, value: unknown, at: string): string {
  if (plan.values !== undefined) {
    const values = [...plan.values].slice(0, MAX_VALUES).map((one) => JSON.stringify(one))
    return `${at} must be one of ${values.join(', ')}${plan.values.size > MAX_VALUES ? ', …' : ''}`
  }
  const types = typesOf(plan)
  if (types === ANY_TYPE || (types & typeOfValue(value)) !== 0) {
    return `${at} must match one of the alternatives in its schema, and cannot be read as one of them`
  }
  return `${at} must be ${types === 0 ? 'left out' : typeNames(types)}, not ${typeName(value)}`
}

function unknownProperty ({ properties }: Plan, place: string, at: string): string {
  return `${place} is unknown. ${at} takes ` +
    `${properties.size === 0 ? 'no properties' : [...properties.keys()].join(', ')}`
}

const INTEGER = /^-?(?:0|[1-9]\d*)$/
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * The number that a text is the numeral of, as JSON writes it. Whether `79.00` for an integer means 79 or 7900 cannot
 * be told.
 */
function numberIn (text: string, types: number): number | undefined {
  if ((types & NUMBER) === 0) return undefined
  return ((types & TYPE.fraction) !== 0 ? DECIMAL : INTEGER).test(text) ? Number(text) : undefined
}

/** Whether a text, converted to the number that is wanted, would be another one. */
function losesDigits (value: unknown, types: number): boolean {
  if (typeof value !== 'string' || (types & NUMBER) === 0 || (types & TYPE.string) !== 0) return false
  return DECIMAL.test(value) && numberProblem(Number(value), types) !== undefined
}

/** What some validators make a number of, and JavaScript does not: nothing, truth values, and numerals of a bigint. */
const NO_NUMERAL = /^(?:\s*|true|false|-?\d+n)$/i

/**
 * Whether a value, written into a URL and converted to the type that is wanted, could be another one: some validators
 * cut decimals off, and take true or an empty text for a number, and 1 for true. A number has lost zeros at its end.
 */
function changesInText (value: unknown, types: number): boolean {
  // 1.10 and 1.1 are one number, and two texts.
  if ((types & TYPE.string) !== 0) {
    return typeof value === 'number' && (types & TYPE.fraction) === 0 && !Number.isInteger(value)
  }
  if (typeof value === 'boolean') return (types & NUMBER) !== 0 && (types & TYPE.boolean) === 0
  if ((types & NUMBER) === 0) return typeof value === 'number' && (types & TYPE.boolean) !== 0
  if (typeof value === 'string' && NO_NUMERAL.test(value)) return (types & (TYPE.boolean | TYPE.null)) === 0
  const number = typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value
  return typeof number === 'number' && (types & TYPE.fraction) === 0 && !Number.isInteger(number)
}

/** A number keeps so many decimal digits, whatever they are. */
const KEPT_DIGITS = 15
/** Ids of 64 bits have at most twenty digits. */
const NO_ID = 1e21

/**
 * Why a number is probably not the one that was sent: JSON.parse reads 1915883588174806058 as 1915883588174806000, and
 * 1e400 as Infinity, which is written as null.
 *
 * @see [RFC 8259 §6](https://www.rfc-editor.org/rfc/rfc8259#section-6)
 */
function numberProblem (value: number, types: number): string | undefined {
  if (Number.isSafeInteger(value)) return undefined
  if (!Number.isFinite(value)) return 'is too large for a number. Send it as a string, if this tool takes one'
  if (!Number.isInteger(value)) return undefined
  // Of floating-point numbers that are too large for an id, those of a few digits are what was sent.
  if ((types & TYPE.fraction) !== 0 && Math.abs(value) >= NO_ID && digitsOf(value) <= KEPT_DIGITS) return undefined
  return `is beyond ${Number.MAX_SAFE_INTEGER}, where numbers lose digits on the way. Send it as a ` +
    `string${(types & TYPE.string) !== 0 ? '' : ', if this tool takes one'}`
}

function digitsOf (value: number): number {
  return value.toExponential().replace(/e.*/, '').replace(/[-.]/g, '').length
}
