import { createError } from '@fastify/error'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { excerpt } from '#shared/excerpt'
import { MODES, OUTCOMES } from '../reconcile/types.ts'

/** A wrong command line. */
export const PAY_RECONCILE_USAGE = createError<[string]>('PAY_RECONCILE_USAGE', '%s')

export const USAGE =
  `Usage: pay-reconcile --url <address> --mode <mode> [--shop <id>] [limit] [--dry-run | --apply] [output]
       pay-reconcile --url <address> --run <id> [output]
       pay-reconcile --url <address> --list [--status <word>] [--json]
       pay-reconcile --url <address> --audit [--account <id>] [--actor <id>] [--run <id>] [--shop <id>]
                     [--csv <file> | --json]
       pay-reconcile --url <address> --unlinked --shop <id> [--csv <file> | --json]

  --url <address>   the admin routes, such as https://shop.example/admin/accounts
  --mode <mode>     link: find the customer of each account that has none
                    sync: store a new snapshot of each linked customer
                    changes: the same for customers that have changed since the last such run
                    check: report how accounts and customers differ
                    unlink: remove the customers of accounts; needs --accounts or --accept
  --shop <id>       one shop only
  --dry-run         change nothing; this is the default
  --apply           make the changes
  --run <id>        watch an existing run
  --list            show the newest 100 runs
  --status <word>   with --list: only runs that are running, done or cancelled
  --audit           show who changed which account: the newest 100 changes, or all in a file or JSON
  --account <id>    with --audit: only changes of this account
  --actor <id>      with --audit: only changes by this user
  --unlinked        show customers that no account is linked to: the first 100, or all in a file or JSON
  --help

Limit:
  --accounts <ids>  only these accounts, separated by commas
  --accept <items>  link what these items suggest, or unlink the customers that they show; ids of items separated
                    by commas, or a file of --csv
  --failed-in <run> only accounts that failed in this run, or that its stopped or cancelled shops did not reach
  --stale <days>    only linked accounts without a snapshot from the last days

Output:
  --show <words>    the outcomes to print, such as different,suggested; default: failed in the table, all in a file
                    or JSON
  --since <run>     only what an earlier run of the same mode did not find in the same way; last: the newest that is
                    done
  --csv <file>      write a line for each difference and each candidate to a file
  --json            print JSON

Options that have no effect are rejected.

Set the bearer token in the environment variable PAY_RECONCILE_TOKEN: every user of the machine could see it on the
command line.
Ctrl-C cancels the run; a second Ctrl-C ends the command only. Without the command, the run continues in the server.
If the server does not respond, or responds with 429 or 5xx, the command retries for two minutes.

Exit code: 0 done; 1 items failed, shops were stopped or the run was cancelled; 2 the command itself failed.
`

/** A command line after parsing. */
export interface Command {
  readonly url: string
  readonly token: string | undefined
  readonly json: boolean
  /** Outcomes of the items to print. Default: failed in a table, all in JSON and CSV. */
  readonly show?: readonly string[]
  /** The file to write. */
  readonly csv?: string
  /** Leave out what this earlier run found; `last`: the newest one of the same mode and shop that is done. */
  readonly since?: string
  readonly task: Task
}

/** Watch this run, or start one. */
export type RunTask =
  | { readonly run: string }
  | { readonly start: Readonly<Record<string, unknown>> }

/** List runs, work on one, or show the audit or the unlinked customers. */
export type Task =
  | RunTask
  | { readonly list: Readonly<Record<string, string>> }
  | { readonly audit: Readonly<Record<string, string>> }
  | /** Of this shop. */ { readonly unlinked: string }

const OF_RUNS = ['show', 'csv', 'since'] as const

/**
 * What the command does, by the option that says so, and the options that have an effect then. The first one counts.
 */
const effective = {
  audit: ['account', 'actor', 'run', 'shop', 'csv'],
  unlinked: ['shop', 'csv'],
  list: ['status'],
  run: OF_RUNS,
  mode: ['shop', 'apply', 'dry-run', 'accounts', 'accept', 'failed-in', 'stale', ...OF_RUNS]
} as const

const COMMON: readonly string[] = ['url', 'json']

/** @returns undefined for --help. @throws {@link PAY_RECONCILE_USAGE} */
export function commandFrom (
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>
): Command | undefined {
  const options = optionsFrom(argv)
  const {
    url,
    mode,
    shop,
    run,
    account,
    actor,
    list,
    audit,
    unlinked,
    status,
    show,
    csv,
    since,
    apply,
    json = false,
    help,
    'dry-run': dryRun
  } = options
  if (help) return undefined
  if (url === undefined || !isAddress(url)) {
    throw new PAY_RECONCILE_USAGE(
      '--url must be the address of the admin routes, such as https://host/admin/accounts, without a user or password'
    )
  }
  const what = (Object.keys(effective) as Array<keyof typeof effective>).find((name) => options[name] !== undefined)
  if (what === undefined) throw new PAY_RECONCILE_USAGE('--mode must be link, sync, check, changes or unlink')
  const ignored = Object.keys(options).find((name) => name !== what && ![...COMMON, ...effective[what]].includes(name))
  // An ignored --shop would mean all shops, and an ignored --apply a run that the user believes to have started.
  if (ignored !== undefined) throw new PAY_RECONCILE_USAGE(`--${ignored} has no effect with --${what}`)
  if (apply && dryRun) throw new PAY_RECONCILE_USAGE('--apply and --dry-run contradict each other')
  if (json && csv !== undefined) throw new PAY_RECONCILE_USAGE('--json and --csv contradict each other')
  const shown = show?.split(',')
  if (shown && !shown.every((word) => (OUTCOMES as readonly string[]).includes(word))) {
    throw new PAY_RECONCILE_USAGE(`--show must be one or more of ${OUTCOMES.join(',')}`)
  }
  const command = {
    url: url.replace(/(?<!\/)\/+$/, ''),
    token: env.PAY_RECONCILE_TOKEN,
    json,
    ...(shown && { show: shown }),
    ...(csv !== undefined && { csv }),
    ...(since !== undefined && { since })
  }
  if (audit) {
    return {
      ...command,
      task: { audit: JSON.parse(JSON.stringify({ account_id: account, actor, run_id: run, shop_id: shop })) }
    }
  }
  if (unlinked) {
    if (shop === undefined) throw new PAY_RECONCILE_USAGE('--unlinked needs --shop: each shop has its own key')
    return { ...command, task: { unlinked: shop } }
  }
  if (list) return { ...command, task: { list: status === undefined ? {} : { status } } }
  if (run !== undefined) return { ...command, task: { run } }
  if (!(MODES as readonly unknown[]).includes(mode)) {
    throw new PAY_RECONCILE_USAGE('--mode must be link, sync, check, changes or unlink')
  }
  return {
    ...command,
    task: { start: { mode, dry_run: !apply, ...(shop !== undefined && { shop_id: shop }), ...limitsFrom(options) } }
  }
}

/** What limits a run. The server refuses combinations that have no meaning. */
function limitsFrom ({ accounts, accept, 'failed-in': failedIn, stale }: ReturnType<typeof optionsFrom>): object {
  const days = Number(stale)
  // An empty string, as from a variable that is not set, would be 0 days: all accounts.
  if (stale !== undefined && !(/^\d+(?:\.\d+)?$/.test(stale) && days < 36_500)) {
    throw new PAY_RECONCILE_USAGE('--stale must be a number of days')
  }
  return {
    ...(accounts !== undefined && { accounts: accounts.split(',') }),
    ...(accept !== undefined && { accept: itemIdsFrom(accept) }),
    ...(failedIn !== undefined && { failed_in: failedIn }),
    ...(stale !== undefined && { synced_before: new Date(Date.now() - days * 86_400_000).toISOString() })
  }
}

/**
 * Ids separated by commas, or the first column of a file that --csv wrote, with or without its heading, each id once.
 */
function itemIdsFrom (accept: string): readonly string[] {
  if (/^[\d,]+$/.test(accept)) return [...new Set(accept.split(','))]
  const lines = readFileSync(accept, 'utf8').replace(/^\ufeff/, '').split(/\r?\n/)
  const ids = lines.flatMap((line, index) => {
    if (line === '' || (index === 0 && /^"?item"?(?:[,;\t]|$)/.test(line))) return []
    // A cell in quotes is read to its end: "1,234" is no id, and not 1.
    const [, quoted, plain] = /^(?:"(\d+)"|(\d+))(?:[,;\t]|$)/.exec(line) ?? []
    const id = quoted ?? plain
    if (id === undefined) {
      throw new PAY_RECONCILE_USAGE(
        `--accept: line ${index + 1} of ${accept} starts with ${JSON.stringify(excerpt(line, 40))}, but the ` +
          'first column must have the ids of items, as --csv wrote them'
      )
    }
    return id
  })
  if (ids.length === 0) throw new PAY_RECONCILE_USAGE(`--accept: ${accept} has no items`)
  return [...new Set(ids)]
}

/** A warning about plain http, which lets others on the network read the token. */
export function warningAbout ({ url }: Pick<Command, 'url'>): string | undefined {
  const { protocol, hostname } = new URL(url)
  const isLocal = /(?:^|\.)localhost\.?$|^127\.|^\[::1\]$/.test(hostname)
  return protocol === 'http:' && !isLocal
    ? 'others on the network can read the token over plain http; use https'
    : undefined
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
  const ofText = {
    url: string,
    mode: string,
    shop: string,
    run: string,
    status: string,
    show: string,
    csv: string,
    since: string,
    account: string,
    actor: string,
    accounts: string,
    accept: string,
    'failed-in': string,
    stale: string
  }
  const flags = { list: flag, audit: flag, unlinked: flag, apply: flag, 'dry-run': flag, json: flag, help: flag }
  try {
    return parseArgs({ args: [...argv], options: { ...ofText, ...flags } }).values
  } catch (error) {
    throw new PAY_RECONCILE_USAGE(error instanceof Error ? error.message : 'unknown option')
  }
}
