import { parseArgs } from 'node:util'
import { clients, doctor, report } from './index.ts'
import { printable } from './printable.ts'
import { isSafeUrl } from '../options.ts'

const usage = `Usage: oauth-discovery-shim doctor [--private] <url> [client…]

Tells for each known MCP client whether it gets from <url> to the sign-in page, and if not, what stops it.
<url> is the URL of the MCP endpoint, or the server's origin when the endpoint is /mcp.

Clients: ${clients.map(client => client.id).join(', ')}. Default: all.
--private: also connect to private addresses, for a server inside your network. Not needed for localhost or an IP address.
Exit status: 0 if every client gets there, 1 if some do not, 2 for wrong usage.`

const { isPrivate, words: [command, url, ...ids] } = argumentsFrom(process.argv.slice(2))
const only = ids.length > 0 ? clients.filter(client => ids.includes(client.id)) : clients

if (command !== 'doctor' || url === undefined || only.length < ids.length) {
  console.error(usage)
  process.exitCode = 2
} else {
  if (/^http:/i.test(url) && !isSafeUrl(url)) console.error('warning: anybody between you and the server can read and change plain http; use https')
  try {
    const verdicts = await doctor(url, { only, ...isPrivate && { allowPrivate: true } })
    console.log(report(verdicts))
    process.exitCode = verdicts.some(({ obstacle }) => obstacle) ? 1 : 0
  } catch (error) {
    console.error(messageOf(error))
    process.exitCode = 2
  }
}

/** An unknown option leaves no words, which is wrong usage. */
function argumentsFrom (args: readonly string[]): { readonly isPrivate: boolean, readonly words: readonly string[] } {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: { private: { type: 'boolean', default: false } }, allowPositionals: true })
    return { isPrivate: values.private, words: positionals }
  } catch {
    return { isPrivate: false, words: [] }
  }
}

function messageOf (error: unknown): string {
  const { code, message } = error as { readonly code?: string, readonly message: string }
  return printable(message) + (code === 'OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE' ? '; use --private for a server inside your network' : '')
}
