import createError from '@fastify/error'
import { parseArgs } from 'node:util'

/** The command line asks for something the command does not do. */
export const PAY_RECONCILE_USAGE = createError<[string]>('PAY_RECONCILE_USAGE', '%s')

export const usage = `Usage: pay-reconcile --url <address> --mode link|sync|check [--shop <id>] [--dry-run | --apply] [--json]
       pay-reconcile --url <address> --run <id> [--json]
       pay-reconcile --url <address> --list [--status <word>] [--json]

Starts a reconciliation run, shows its progress, and prints what it found.

  --url <address>   the administration of accounts, e.g. https://shop.example/admin/accounts
  --mode <mode>     link: find the customer of each account that has none
                    sync: store a new snapshot of each linked customer
                    check: report how accounts and customers differ
  --shop <id>       one shop only; default: all
  --dry-run         change nothing; this is the default
  --apply           change what was found
  --run <id>        watch a run that was started before, instead of starting one
  --list            show the newest 100 runs of all shops, instead of starting one
  --status <word>   with --list: only those that are running, done or cancelled
  --json            print the run, or the runs, as JSON instead of tables
  --help

An option that has no effect beside --run or --list is refused.

PAY_RECONCILE_TOKEN in the environment is sent as the bearer token; a token on the command line would be
visible to every user of the machine. Ctrl-C cancels the run, once more leaves it alone.

A run goes on in the server without the command. While it is watched, a server that does not answer, or
answers 429 or 5xx, is asked again for two minutes; then the command ends and says how to watch the run again.

Exit code: 0 done; 1 items failed, shops were given up or the run was cancelled; 2 the command itself failed.
`

/** What the command is to do. */
export interface Command {
  readonly url: string
  readonly token: string | undefined
  readonly json: boolean
  readonly work: Work
}

/** Watch this run, list runs, or start one. */
export type Work =
  { readonly run: string } |
  { readonly list: Readonly<Record<string, string>> } |
  { readonly start: Readonly<Record<string, string | boolean>> }

/** What has no effect beside an option that does something else than to start a run. */
const ineffective = {
  list: ['run', 'mode', 'shop', 'apply', 'dry-run'],
  run: ['mode', 'shop', 'apply', 'dry-run', 'status']
} as const

/** @returns nothing when help is wanted. @throws {@link PAY_RECONCILE_USAGE} */
export function commandFrom (argv: readonly string[], env: Readonly<Record<string, string | undefined>>): Command | undefined {
  const options = optionsFrom(argv)
  const { url, mode, shop, run, list, status, apply, json, help, 'dry-run': dryRun } = options
  if (help) return undefined
  if (url === undefined || !isAddress(url)) throw new PAY_RECONCILE_USAGE('--url must be the address of the administration of accounts: https://host/admin/accounts, without a user or password')
  for (const task of ['list', 'run'] as const) {
    const ignored = options[task] !== undefined && ineffective[task].find(name => options[name] !== undefined)
    // Ignored, --shop would mean all shops, and --apply a run that somebody believes to have started.
    if (ignored) throw new PAY_RECONCILE_USAGE(`--${ignored} has no effect beside --${task}`)
  }
  if (apply && dryRun) throw new PAY_RECONCILE_USAGE('--apply and --dry-run exclude each other')
  const common = { url: url.replace(/(?<!\/)\/+$/, ''), token: env.PAY_RECONCILE_TOKEN, json: json ?? false }
  if (status !== undefined && !list) throw new PAY_RECONCILE_USAGE('--status goes with --list')
  if (list) return { ...common, work: { list: status === undefined ? {} : { status } } }
  if (run !== undefined) return { ...common, work: { run } }
  if (mode !== 'link' && mode !== 'sync' && mode !== 'check') throw new PAY_RECONCILE_USAGE('--mode must be link, sync or check')
  return { ...common, work: { start: { mode, dry_run: !apply, ...(shop !== undefined && { shop_id: shop }) } } }
}

/** What is to be said before a command runs: the token and what it can do would be there for all on the way to read. */
export function warningAbout ({ url }: Pick<Command, 'url'>): string | undefined {
  const { protocol, hostname } = new URL(url)
  const isHere = /(?:^|\.)localhost\.?$|^127\.|^\[::1\]$/.test(hostname)
  return protocol === 'http:' && !isHere ? 'over plain http anybody on the way can read the token; use https' : undefined
}

/** `localhost:8080/…` is a URL too, of the scheme localhost. */
function isAddress (url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, username, password } = new URL(url)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

function optionsFrom (argv: readonly string[]) {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  try {
    return parseArgs({
      args: [...argv],
      options: { url: text, mode: text, shop: text, run: text, status: text, list: flag, apply: flag, 'dry-run': flag, json: flag, help: flag }
    }).values
  } catch (error) {
    throw new PAY_RECONCILE_USAGE(error instanceof Error ? error.message : 'unknown option')
  }
}
