import { clients, doctor, report } from './doctor.ts'

const usage = `Usage: oauth-discovery-shim doctor <url> [client…]

Says for each known MCP client whether it gets from <url> to the sign-in page, and if not, why not.
<url> is the URL of the MCP endpoint, or the server's origin when the endpoint is /mcp.

Clients: ${clients.map(client => client.id).join(', ')}; all of them by default.
Exit status: 0 every client gets there, 1 some do not, 2 wrong usage.`

const [command, url, ...ids] = process.argv.slice(2)
const only = ids.length > 0 ? clients.filter(client => ids.includes(client.id)) : clients

if (command !== 'doctor' || url === undefined || only.length < ids.length) {
  console.error(usage)
  process.exitCode = 2
} else {
  try {
    const verdicts = await doctor(url, { only })
    console.log(report(verdicts))
    process.exitCode = verdicts.some(({ obstacle }) => obstacle) ? 1 : 0
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 2
  }
}
