import createError from '@fastify/error'
import { parseArgs } from 'node:util'

/** A wrong command line. */
export const PAY_RECONCILE_USAGE = createError<[string]>('PAY_RECONCILE_USAGE', '%s')

export const usage = `Usage: pay-reconcile --url <address> --mode link|sync|check [--shop <id>] [--dry-run | --apply] [--json]
       pay-reconcile --url <address> --run <id> [--json]
       pay-reconcile --url <address> --list [--status <word>] [--json]

Starts a reconciliation run, shows its progress and prints what it found.

  --url <address>   the admin routes, for example https://shop.example/admin/accounts
  --mode <mode>     link: find the customer of each account that has none
                    sync: store a new snapshot of each linked customer
                    check: report how accounts and customers differ
  --shop <id>       one shop only; default: all
  --dry-run         change nothing; this is the default
  --apply           make the changes
  --run <id>        watch an existing run instead of starting one
  --list            show the newest 100 runs of all shops instead of starting one
  --status <word>   with --list: only runs that are running, done or cancelled
  --json            print JSON instead of tables
  --help

Options that have no effect with --run or --list are rejected.

Set the bearer token in the environment variable PAY_RECONCILE_TOKEN; every user of the machine could see it on
the command line. Ctrl-C cancels the run; a second Ctrl-C ends the command only.

The run continues in the server without the command. If the server does not respond, or responds with 429 or 5xx,
the command retries for two minutes, then ends and says how to watch the run again.

Exit code: 0 done; 1 items failed, shops were stopped or the run was cancelled; 2 the command itself failed.
`

/** A command line after parsing. */
export interface Command {
  readonly url: string
  readonly token: string | undefined
  readonly json: boolean
  readonly task: Task
}

/** Watch this run, list runs, or start one. */
export type Task =
  { readonly run: string } |
  { readonly list: Readonly<Record<string, string>> } |
  { readonly start: Readonly<Record<string, string | boolean>> }

/** Options that have no effect with --list or --run. */
const ineffective = {
  list: ['run', 'mode', 'shop', 'apply', 'dry-run'],
  run: ['mode', 'shop', 'apply', 'dry-run', 'status']
} as const

/** @returns undefined for --help. @throws {@link PAY_RECONCILE_USAGE} */
export function commandFrom (argv: readonly string[], env: Readonly<Record<string, string | undefined>>): Command | undefined {
  const options = optionsFrom(argv)
  const { url, mode, shop, run, list, status, apply, json, help, 'dry-run': dryRun } = options
  if (help) return undefined
  if (url === undefined || !isAddress(url)) throw new PAY_RECONCILE_USAGE('--url must be the address of the admin routes, such as https://host/admin/accounts, without a user or password')
  for (const name of ['list', 'run'] as const) {
    const ignored = options[name] !== undefined && ineffective[name].find(other => options[other] !== undefined)
    // An ignored --shop would mean all shops, and an ignored --apply a run that the user believes to have started.
    if (ignored) throw new PAY_RECONCILE_USAGE(`--${ignored} has no effect with --${name}`)
  }
  if (apply && dryRun) throw new PAY_RECONCILE_USAGE('--apply and --dry-run contradict each other')
  const common = { url: url.replace(/(?<!\/)\/+$/, ''), token: env.PAY_RECONCILE_TOKEN, json: json ?? false }
  if (status !== undefined && !list) throw new PAY_RECONCILE_USAGE('--status needs --list')
  if (list) return { ...common, task: { list: status === undefined ? {} : { status } } }
  if (run !== undefined) return { ...common, task: { run } }
  if (mode !== 'link' && mode !== 'sync' && mode !== 'check') throw new PAY_RECONCILE_USAGE('--mode must be link, sync or check')
  return { ...common, task: { start: { mode, dry_run: !apply, ...(shop !== undefined && { shop_id: shop }) } } }
}

/** A warning about plain http, which lets others on the network read the token. */
export function warningAbout ({ url }: Pick<Command, 'url'>): string | undefined {
  const { protocol, hostname } = new URL(url)
  const isLocal = /(?:^|\.)localhost\.?$|^127\.|^\[::1\]$/.test(hostname)
  return protocol === 'http:' && !isLocal ? 'others on the network can read the token over plain http; use https' : undefined
}

/** `localhost:8080/…` is a URL too, with the scheme localhost. */
function isAddress (url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, username, password } = new URL(url)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

function optionsFrom (argv: readonly string[]) {
  const string = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  try {
    return parseArgs({
      args: [...argv],
      options: { url: string, mode: string, shop: string, run: string, status: string, list: flag, apply: flag, 'dry-run': flag, json: flag, help: flag }
    }).values
  } catch (error) {
    throw new PAY_RECONCILE_USAGE(error instanceof Error ? error.message : 'unknown option')
  }
}
