import { parseArgs } from 'node:util'
import { examine } from '../doctor/index.ts'
import { messageOf, printable, type Finding } from '../doctor/finding.ts'
import { DUAL_AUTH_INVALID_OPTION } from '../errors.ts'
import { isMarker, MARKER_RULE, type ClaimName, type JwtOptions } from '../options.ts'
import { RULES } from '../scanning/rules.ts'
import { introspection, type IntrospectionOptions } from '../introspection/index.ts'
import { PROVIDERS, type Provider } from '../tokens/providers.ts'

const usage = `Usage: dual-auth doctor --issuer <url> [--provider <name>] [--audience <aud>]… [option]… [--token -]
       dual-auth rules <${Object.keys(RULES).join('|')}> --marker <marker>

doctor reads what the identity provider publishes, as the plugin does, and checks an access token.
The token comes from standard input with --token -, or from the variable DUAL_AUTH_TOKEN, never from an argument.

  --provider        ${PROVIDERS.join(', ')}; default: cognito
  --audience        a value of aud that means your API
  --user-client     the id of a client that people sign in with
  --machine-client  the id of a client of a machine
  --machine-scope   a scope that makes a caller a machine
  --algorithm       a signature algorithm; default: RS256
  --claim           <fact>=<claim>, where tokens have the client, subject, username, groups or scopes;
                    ["a","b"] is the claim b inside a
  --tenant          a tenant that {tenantid} in the issuer stands for
  --insecure-http   accepts http for an issuer inside your network
  --jwks-uri        where the signing keys are; default: by discovery
  --session-tokens          accepts tokens that name no client; only with the provider generic
  --any-user-client         accepts people's tokens of any client; only with the provider generic
  --insecure-no-audience    accepts tokens without aud; only with the provider generic
  --introspection-client    the client that asks the issuer about opaque tokens, with its secret in the variable
                            DUAL_AUTH_CLIENT_SECRET
  --introspection-endpoint  where it asks; default: by discovery
  --introspection-auth      client_secret_basic (default) or client_secret_post

rules prints a rule with which a secret scanner finds API keys that start with the marker.

Exit status: 0 if all is well, 1 if something fails, 2 for wrong usage.`

/** In characters; a token has fewer, since the headers of a request have. */
const INPUT_LIMIT = 65_536

/** The surroundings of the command. */
export interface Surroundings {
  readonly stdin: AsyncIterable<Uint8Array | string>
  readonly stdout: { write: (text: string) => unknown }
  readonly stderr: { write: (text: string) => unknown }
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * Runs the command.
 *
 * @param argv - what follows `dual-auth`
 * @returns the exit status
 */
export async function run (argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const { stdout, stderr } = surroundings
  const misused = (problem?: string): number => {
    stderr.write(problem === undefined ? `${usage}\n` : `${problem}\n\n${usage}\n`)
    return 2
  }
  const given = argumentsFrom(argv)
  if (typeof given === 'string') return misused(given)
  const { values, positionals: [command, ...words] } = given
  if (values.help === true) {
    stdout.write(`${usage}\n`)
    return 0
  }
  if (command === 'rules') {
    const [scanner = ''] = words
    const rule = Object.hasOwn(RULES, scanner) ? RULES[scanner] : undefined
    if (rule === undefined || words.length > 1) return misused(`rules takes one of ${Object.keys(RULES).join(', ')}`)
    if (!isMarker(values.marker)) return misused(`--marker ${MARKER_RULE}`)
    stdout.write(rule(values.marker))
    return 0
  }
  // Not the words themselves: one may be a token.
  if (command !== 'doctor') return misused(command === undefined ? undefined : 'The command must be doctor or rules')
  if (words.length > 0) return misused('doctor takes options only')
  if (values.issuer === undefined) return misused('--issuer is required')
  if (values.token !== undefined && values.token !== '-') {
    return misused(
      'The token must not be an argument: shells keep those, and other users of the machine can see them. Use ' +
        '--token - or DUAL_AUTH_TOKEN'
    )
  }
  try {
    const token = values.token === '-' ? await textFrom(surroundings.stdin) : surroundings.env.DUAL_AUTH_TOKEN ?? ''
    if (values.token === '-' && token.trim() === '') return misused('Standard input has no token')
    const findings = await examine(
      jwtOptions(values, surroundings.env.DUAL_AUTH_CLIENT_SECRET),
      token === '' ? undefined : token.trim().replace(/^Bearer\s+/i, '')
    )
    stdout.write(report(findings))
    return findings.some(({ level }) => level === 'fail') ? 1 : 0
  } catch (error) {
    if (!(error instanceof DUAL_AUTH_INVALID_OPTION)) throw error
    return misused(messageOf(error))
  }
}

/** One line for each finding. */
export function report (findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ what }) => what.length))
  return findings.map(({ level, what, found }) => `${level.padEnd(4)}  ${what.padEnd(width)}  ${found}\n`).join('')
}

const ONE = { type: 'string' } as const
const SEVERAL = { type: 'string', multiple: true } as const
const OPTIONS = {
  issuer: ONE,
  provider: ONE,
  'jwks-uri': ONE,
  token: ONE,
  marker: ONE,
  audience: SEVERAL,
  'user-client': SEVERAL,
  'machine-client': SEVERAL,
  'machine-scope': SEVERAL,
  algorithm: SEVERAL,
  claim: SEVERAL,
  tenant: SEVERAL,
  'insecure-http': { type: 'boolean' },
  'session-tokens': { type: 'boolean' },
  'any-user-client': { type: 'boolean' },
  'insecure-no-audience': { type: 'boolean' },
  'introspection-client': ONE,
  'introspection-endpoint': ONE,
  'introspection-auth': ONE,
  help: { type: 'boolean' }
} as const

type Arguments = ReturnType<typeof parseArgs<{ options: typeof OPTIONS, allowPositionals: true }>>

/** @returns what is wrong with them, without a token that may be among them */
function argumentsFrom (args: readonly string[]): Arguments | string {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
  } catch (error) {
    return printable((error as Error).message.replace(/[\w.~+/=-]{40,}/g, '…'))
  }
}

function jwtOptions (values: Arguments['values'], clientSecret = ''): JwtOptions {
  const { issuer = '', provider, audience, tenant, claim, algorithm } = values
  const { 'jwks-uri': jwksUri, 'machine-client': machines, 'machine-scope': scopes, 'session-tokens': sessionTokens } =
    values
  const { 'insecure-http': insecureHttp, 'insecure-no-audience': insecureNoAudience } = values
  const { 'introspection-client': clientId, 'introspection-endpoint': endpoint, 'introspection-auth': clientAuth } =
    values
  const isCognito = provider === undefined || provider === 'cognito'
  const userClients = userClientsFrom(values, isCognito)
  return {
    issuer,
    ...provider !== undefined && { provider: provider as Provider },
    ...insecureHttp !== undefined && { insecureHttp },
    ...insecureNoAudience !== undefined && { insecureNoAudience },
    ...sessionTokens !== undefined && { sessionTokens },
    ...clientId !== undefined && {
      introspection: introspection({
        clientId,
        clientSecret,
        ...endpoint !== undefined && { endpoint },
        ...clientAuth !== undefined && { clientAuth: clientAuth as NonNullable<IntrospectionOptions['clientAuth']> }
      })
    },
    ...jwksUri !== undefined && { jwksUri },
    // What the plugin requires and the issuer can be examined without; a token then shows what to set.
    ...audience !== undefined ? { audience } : !isCognito && { audience: ['(set --audience)'] },
    ...userClients !== undefined && { userClients },
    ...machines !== undefined && { machineClients: machines },
    ...scopes !== undefined && { machineScopes: scopes },
    ...algorithm !== undefined && { algorithms: algorithm as unknown as NonNullable<JwtOptions['algorithms']> },
    ...claim !== undefined && { claims: Object.fromEntries(claim.map(claimFromText)) },
    ...tenant !== undefined && { tenants: tenant }
  }
}

/** Without any, an issuer can be examined, and a token then shows what to set. */
function userClientsFrom (values: Arguments['values'], isCognito: boolean): JwtOptions['userClients'] {
  const { provider, 'user-client': users, 'any-user-client': isAny = false } = values
  if (isAny && users !== undefined) throw new DUAL_AUTH_INVALID_OPTION('--any-user-client excludes --user-client')
  if (isAny) return 'any'
  return users ?? (isCognito || provider === 'generic' ? [] : undefined)
}

/** `groups=roles`, or `groups=["realm_access","roles"]`. */
function claimFromText (text: string): readonly [fact: string, claim: ClaimName] {
  const [, fact = text, claim = ''] = /^(\w+)=(.*)$/s.exec(text) ?? []
  try {
    return [fact, claim.startsWith('[') ? JSON.parse(claim) : claim]
  } catch {
    throw new DUAL_AUTH_INVALID_OPTION(`--claim ${fact} must be the name of a claim, or a list of names as JSON`)
  }
}

async function textFrom (stream: AsyncIterable<Uint8Array | string>): Promise<string> {
  let text = ''
  for await (const chunk of stream) {
    text += String(chunk)
    if (text.length > INPUT_LIMIT) break
  }
  return text
}
