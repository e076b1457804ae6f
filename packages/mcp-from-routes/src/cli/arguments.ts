import { parseArgs } from 'node:util'
import { MCP_FROM_ROUTES_CONTRACT_USAGE, type Bump } from '../contract/index.ts'
import type { CheckOptions } from './check.ts'

export const USAGE = `Usage: mcp-from-routes contract write <module> [--contract <file>]
       mcp-from-routes contract check <module> [options]
       mcp-from-routes contract changelog <module> [options]
       mcp-from-routes review <module> [--routes <file>] [--publish <pattern>]… [--check] [--json]
       mcp-from-routes cases <file> <module> [--url <url>] [--model <name>] [options]

write stores the tools of an app as its contract. check fails when the app and the file differ, or when the
version of the package does not rise as much as the changes since an earlier state require. changelog prints those
changes as Markdown, tool by tool, and takes the same options. review lists all routes of an app in the file of the
plugin's option routes, with the tools that they would be; people decide there which are published. cases asks a model
what people say, with the app's tools, and checks which it calls. It sends nothing without a key in CASES_KEY.

<module> is a file whose default export, else buildApp, is a Fastify app or a function that makes one.

  --contract <file>          the contract; default: contract/tools.json
  --against <commit>         compare with this commit, branch or tag
  --against-version <x.y.z>  compare with this version, by its tag: <package>@x.y.z or vx.y.z
                             default: the merge base with the default branch
  --own-changeset            require a changeset of the branch that makes the change
  --declared-outputs         also compare results that routes declare but do not publish
  --bump <major|minor|patch> the next release raises the version by this; changesets are not read
  --conventional-commits     the next release follows the commit messages; changesets are not read
  --allow-unchecked          pass if there is nothing to compare with, in CI too
  --routes <file>            the review file; default: that of the option routes, else mcp-routes.json
  --publish <pattern>        also publish the routes that match, such as 'GET /v1/*'; repeatable
  --check                    write nothing; fail if the file lacks a route, or publishes one that cannot be a tool
  --url <url>                the model's endpoint, which ends with /messages or /chat/completions; default: CASES_URL
  --model <name>             the model; default: CASES_MODEL
  --only <text>              only the cases in which the person says this
  --at-once <number>         how many runs are under way at once, 1 to 32; default: 4
  --timeout <seconds>        how long an answer of the model may take; default: 120
  --json                     print the report as JSON
  --help

Exit code: 0 all is well, or written; 1 the check or a case failed; 2 the command itself failed.
`

/** A review to be made. */
export interface ReviewCommand {
  readonly action: 'review'
  readonly module: string
  readonly routes: string | undefined
  readonly publish: readonly string[]
  readonly check: boolean
  readonly json: boolean
}

/** Cases to be tried with a model. */
export interface CasesCommand {
  readonly action: 'cases'
  readonly file: string
  readonly module: string
  readonly url: string | undefined
  readonly model: string | undefined
  /** Part of what the person says; empty for all cases. */
  readonly only: string
  readonly atOnce: number
  /** Milliseconds. */
  readonly timeout: number
  readonly json: boolean
}

/** What to do with a contract. */
export interface Command extends CheckOptions {
  readonly action: 'write' | 'check' | 'changelog'
  readonly module: string
  readonly contract: string
  readonly json: boolean
}

/** @returns nothing when help is wanted. @throws {@link MCP_FROM_ROUTES_CONTRACT_USAGE} */
export function commandFrom (argv: readonly string[]): Command | ReviewCommand | CasesCommand | undefined {
  if (argv[0] === 'review') return reviewFrom(argv.slice(1))
  if (argv[0] === 'cases') return casesFrom(argv.slice(1))
  const { values, positionals } = parsed(argv, OF_CONTRACT)
  if (values.help) return undefined
  const [topic, action, module, ...more] = positionals
  if (topic !== 'contract' || (action !== 'write' && action !== 'check' && action !== 'changelog')) {
    throw new MCP_FROM_ROUTES_CONTRACT_USAGE(
      'Use contract write, contract check, contract changelog, review or cases. See --help'
    )
  }
  if (module === undefined || more.length > 0) {
    throw new MCP_FROM_ROUTES_CONTRACT_USAGE(
      `contract ${action} takes one module that exports the app, such as ./dist/app.js`
    )
  }
  const { against, 'against-version': againstVersion, json = false, contract = 'contract/tools.json', bump } = values
  const commits = values['conventional-commits'] ?? false
  const ownChangeset = values['own-changeset'] ?? false
  if (bump !== undefined && !isBump(bump)) {
    throw new MCP_FROM_ROUTES_CONTRACT_USAGE(`--bump takes major, minor or patch, not ${JSON.stringify(bump)}`)
  }
  if (commits && bump !== undefined) {
    throw new MCP_FROM_ROUTES_CONTRACT_USAGE('--bump and --conventional-commits exclude each other')
  }
  if (ownChangeset && (commits || bump !== undefined)) {
    throw new MCP_FROM_ROUTES_CONTRACT_USAGE(
      '--own-changeset needs changesets, which --bump and --conventional-commits do not use'
    )
  }
  if (against !== undefined && againstVersion !== undefined) {
    throw new MCP_FROM_ROUTES_CONTRACT_USAGE('--against and --against-version exclude each other')
  }
  if (action === 'write' && (against ?? againstVersion) !== undefined) {
    throw new MCP_FROM_ROUTES_CONTRACT_USAGE(
      'contract write takes neither --against nor --against-version: it compares nothing'
    )
  }
  return {
    action,
    module,
    contract,
    json,
    ownChangeset,
    allowUnchecked: values['allow-unchecked'] ?? false,
    countDeclared: values['declared-outputs'] ?? false,
    release: bump !== undefined ? { by: 'bump', bump } : { by: commits ? 'commits' : 'changesets' },
    ...against !== undefined && { against },
    ...againstVersion !== undefined && { againstVersion }
  }
}

function isBump (text: string): text is Exclude<Bump, 'none'> {
  return ['major', 'minor', 'patch'].includes(text)
}

function reviewFrom (argv: readonly string[]): ReviewCommand | undefined {
  const { values, positionals } = parsed(argv, OF_REVIEW)
  if (values.help) return undefined
  const [module, ...more] = positionals
  if (module === undefined || more.length > 0) {
    throw new MCP_FROM_ROUTES_CONTRACT_USAGE('review takes one module that exports the app, such as ./dist/app.js')
  }
  const { routes, publish = [], check = false, json = false } = values
  if (check && publish.length > 0) throw new MCP_FROM_ROUTES_CONTRACT_USAGE('--check and --publish exclude each other')
  return { action: 'review', module, routes, publish, check, json }
}

function casesFrom (argv: readonly string[]): CasesCommand | undefined {
  const { values, positionals } = parsed(argv, OF_CASES)
  if (values.help) return undefined
  const [file, module, ...more] = positionals
  if (file === undefined || module === undefined || more.length > 0) {
    throw new MCP_FROM_ROUTES_CONTRACT_USAGE(
      'cases takes a file of cases and a module that exports the app, such as cases.json ./dist/app.js'
    )
  }
  const { url, model, only = '', json = false } = values
  const atOnce = Number(values['at-once'] ?? 4)
  if (!Number.isInteger(atOnce) || atOnce < 1 || atOnce > 32) {
    throw new MCP_FROM_ROUTES_CONTRACT_USAGE('--at-once takes a whole number from 1 to 32')
  }
  const seconds = Number(values.timeout ?? 120)
  if (!(seconds > 0 && seconds <= 3600)) {
    throw new MCP_FROM_ROUTES_CONTRACT_USAGE('--timeout takes a number of seconds, up to 3600')
  }
  return { action: 'cases', file, module, url, model, only, atOnce, timeout: Math.ceil(seconds * 1000), json }
}

const TEXT = { type: 'string' } as const
const FLAG = { type: 'boolean' } as const
const OF_CONTRACT = {
  contract: TEXT,
  against: TEXT,
  'against-version': TEXT,
  bump: TEXT,
  'conventional-commits': FLAG,
  'own-changeset': FLAG,
  'declared-outputs': FLAG,
  'allow-unchecked': FLAG,
  json: FLAG,
  help: FLAG
}
const OF_CASES = {
  url: TEXT,
  model: TEXT,
  only: TEXT,
  'at-once': TEXT,
  timeout: TEXT,
  json: FLAG,
  help: FLAG
} as const
const OF_REVIEW = { routes: TEXT, publish: { ...TEXT, multiple: true }, check: FLAG, json: FLAG, help: FLAG } as const

function parsed<Options extends typeof OF_CONTRACT | typeof OF_REVIEW | typeof OF_CASES> (
  argv: readonly string[],
  options: Options
) {
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options })
  } catch (error) {
    throw new MCP_FROM_ROUTES_CONTRACT_USAGE((error as Error).message)
  }
}

/** Where a command runs. */
export interface Surroundings {
  /** The folder that paths are relative to. */
  readonly cwd: string
  /** The environment variables, as in `process.env`; git gets them too. */
  readonly env: NodeJS.ProcessEnv
}

/** The outcome of a command: its exit code, and what to print on standard output and standard error. */
export interface Answer {
  /** 0 all is well, or written; 1 the check or a case failed; 2 the command itself failed. */
  readonly code: number
  readonly out: string
  readonly err: string
}
