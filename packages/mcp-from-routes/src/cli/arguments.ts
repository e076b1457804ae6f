import { parseArgs } from 'node:util'
import { MCP_FROM_ROUTES_CONTRACT_USAGE } from '../contract/index.ts'

export const usage = `Usage: mcp-from-routes contract write <module> [--contract <file>]
       mcp-from-routes contract check <module> [options]

write stores the tools of an app as its contract. check fails when the app and the file differ, or when the
version of the package does not rise as much as the changes since an earlier state require.

<module> is a file whose default export, else buildApp, is a Fastify app or a function that makes one.

  --contract <file>          the contract; default: contract/tools.json
  --against <commit>         compare with this commit, branch or tag
  --against-version <x.y.z>  compare with this version, by its tag: <package>@x.y.z or vx.y.z
                             default: the merge base with the default branch
  --json                     print the report as JSON
  --help

Exit code: 0 all is well, or written; 1 the check failed; 2 the command itself failed.
`

/** What the command is to do. */
export interface Command {
  readonly action: 'write' | 'check'
  readonly module: string
  readonly contract: string
  readonly against?: string
  readonly againstVersion?: string
  readonly json: boolean
}

/** @returns nothing when help is wanted. @throws {@link MCP_FROM_ROUTES_CONTRACT_USAGE} */
export function commandFrom (argv: readonly string[]): Command | undefined {
  const { values, positionals } = parsed(argv)
  if (values.help) return undefined
  const [topic, action, module, ...more] = positionals
  if (topic !== 'contract' || (action !== 'write' && action !== 'check')) throw new MCP_FROM_ROUTES_CONTRACT_USAGE('The first words must be contract write or contract check; --help says more')
  if (module === undefined || more.length > 0) throw new MCP_FROM_ROUTES_CONTRACT_USAGE(`contract ${action} takes one module that gives the app, such as ./dist/app.js`)
  const { against, 'against-version': againstVersion, json = false, contract = 'contract/tools.json' } = values
  if (against !== undefined && againstVersion !== undefined) throw new MCP_FROM_ROUTES_CONTRACT_USAGE('--against and --against-version exclude each other')
  if (action === 'write' && (against ?? againstVersion) !== undefined) throw new MCP_FROM_ROUTES_CONTRACT_USAGE('contract write compares with nothing')
  return { action, module, contract, json, ...against !== undefined && { against }, ...againstVersion !== undefined && { againstVersion } }
}

function parsed (argv: readonly string[]) {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options: { contract: text, against: text, 'against-version': text, json: flag, help: flag } })
  } catch (error) {
    throw new MCP_FROM_ROUTES_CONTRACT_USAGE((error as Error).message)
  }
}
