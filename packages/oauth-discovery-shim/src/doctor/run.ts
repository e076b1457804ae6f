import { parseArgs } from 'node:util'
import { clients, doctor, ownIssuerOf, report } from './index.ts'
import { printable } from './step.ts'
import { OAUTH_DISCOVERY_SHIM_DOCTOR_UNREACHABLE } from '../errors.ts'
import { isSafeUrl } from '../safe-url.ts'

const usage = `Usage: oauth-discovery-shim doctor [--private] [--document <url>] <url> [client…]

Reports for each known MCP client whether it gets from <url> to the sign-in page, and if not, what stops it.
<url> is the URL of the MCP endpoint, or the server's origin when the endpoint is /mcp.

Clients: ${clients.map((client) => client.id).join(', ')}. Default: all.
--document: the URL of a client's metadata document; tries that client, with each of its callbacks.
--private: also connect to private addresses, for a server inside your network.
           Not needed for localhost or an IP address.
Exit status: 0 if every client gets there, 1 if some do not, 2 for wrong usage.`

/** Where the command prints. */
export interface Streams {
  readonly stdout: { write: (text: string) => unknown }
  readonly stderr: { write: (text: string) => unknown }
}

/**
 * Runs the command.
 *
 * @param argv - what follows `oauth-discovery-shim`
 * @returns the exit code
 */
export async function run (argv: readonly string[], { stdout, stderr }: Streams): Promise<number> {
  const misused = (problem?: string): number => {
    stderr.write(problem === undefined ? `${usage}\n` : `${printable(problem)}\n\n${usage}\n`)
    return 2
  }
  const flag = { type: 'boolean', default: false } as const
  let given
  try {
    given = parseArgs({
      args: [...argv],
      options: { private: flag, help: flag, document: { type: 'string' } },
      allowPositionals: true
    })
  } catch (error) {
    return misused(error instanceof Error ? error.message : String(error))
  }
  const { values: { private: isPrivate, document, help }, positionals: [command, url, ...ids] } = given
  if (help) {
    stdout.write(`${usage}\n`)
    return 0
  }
  const only = ids.length > 0 ? clients.filter((client) => ids.includes(client.id)) : undefined
  const unknown = ids.find((id) => !clients.some((client) => client.id === id))
  if (unknown !== undefined) return misused(`There is no client ${unknown}`)
  if (command !== 'doctor' || url === undefined) return misused()
  if (/^http:/i.test(url) && !isSafeUrl(url)) {
    stderr.write('warning: anybody between you and the server can read and change plain http; use https\n')
  }
  try {
    const reach = isPrivate ? { allowPrivate: true } : {}
    const verdicts = await doctor(url, { ...only && { only }, ...document !== undefined && { document }, ...reach })
    stdout.write(`${report(verdicts)}\n`)
    stdout.write(await noteOnTokens(url, reach))
    return verdicts.some(({ obstacle }) => obstacle) ? 1 : 0
  } catch (error) {
    stderr.write(`${messageOf(error)}\n`)
    return 2
  }
}

/** A line about tokens of the server's own; empty if it issues none. */
async function noteOnTokens (url: string, reach: { readonly allowPrivate?: boolean }): Promise<string> {
  try {
    const own = await ownIssuerOf(url, reach)
    return own === undefined
      ? ''
      : `note  For assertions of organizations, the server issues tokens itself: issuer ${printable(own.issuer)}, ` +
        `keys at ${printable(own.keys)}\n`
  } catch (error) {
    if (!(error instanceof OAUTH_DISCOVERY_SHIM_DOCTOR_UNREACHABLE)) throw error
    return `warn  Whether the server issues tokens itself is not known: ${printable(error.message)}\n`
  }
}

function messageOf (error: unknown): string {
  const { code, message } = error as { readonly code?: string, readonly message: string }
  return printable(message) +
    (code === 'OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE' ? '; use --private for a server inside your network' : '')
}
