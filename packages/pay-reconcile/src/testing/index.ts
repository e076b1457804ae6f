import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FUNCTION, integer, OBJECT, type Table, TEXT } from '#shared/option-table'
import { settingsBy } from './option-checks.ts'
import {
  accountFor,
  accountWith,
  respond,
  replayOf,
  store,
  type StandInAccount,
  type StandInAccountOptions
} from './account.ts'
import { newId, refusal, formFrom, type StandInResponse } from './response.ts'
import { executed, faults, sendFaulty, type Fault } from './faults.ts'
import { visitSession } from './payments.ts'

export type { StandInAccount, StandInAccountOptions } from './account.ts'
export { customerWith, type StandInCustomer } from './customers.ts'
export type { StandInEvent } from './customers.ts'
export type { Fault } from './faults.ts'

/** Options of {@link startPayStandIn}. */
export interface PayStandInOptions {
  /** The accounts by their secret keys. Other keys and all live keys are rejected. */
  readonly accounts: Readonly<Record<string, StandInAccountOptions>>
  /** Default 0: any free port. */
  readonly port?: number
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Receives the one line that the start logs. Default: standard error. */
  readonly log?: (line: string) => void
}

/** A request that arrived, for tests that check its key. */
export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly secretKey: string
  readonly headers: Readonly<IncomingMessage['headers']>
}

/** A running stand-in; `host`, `port` and `protocol` are options of `stripeProvider`. */
export interface PayStandIn {
  readonly url: string
  readonly host: string
  readonly port: number
  readonly protocol: 'http'
  /** The last 1000 requests, oldest first. */
  readonly requests: readonly SeenRequest[]
  /** How many requests have arrived in total. */
  readonly requested: number
  /** The account of a key, to inspect or change. */
  account(secretKey: string): StandInAccount
  /** Adds an account, or replaces one. */
  addAccount(secretKey: string, options?: StandInAccountOptions): StandInAccount
  /** Makes requests fail. @returns a function that ends the fault. */
  fault(fault: Fault): () => void
  close(): Promise<void>
}

const TABLE: Table<Required<PayStandInOptions>> = {
  accounts: { ...OBJECT, secret: true, required: true },
  port: { ...integer(0, 65_535), default: 0 },
  host: { ...TEXT, default: '127.0.0.1' },
  log: { ...FUNCTION, default: (line) => process.stderr.write(`${line}\n`) }
}

const LIVE_KEY = /^[a-z]+(_org)?_live_/

/**
 * Starts an HTTP server that behaves like the payment provider, for tests and demos: customers, checkout sessions and
 * payment intents in memory, one account per secret key, faults on demand. It moves no money, knows no cards and
 * delivers no events, but lists those about customers.
 */
export async function startPayStandIn (options: PayStandInOptions): Promise<PayStandIn> {
  const { port, host, log, accounts: given } = settingsBy(TABLE, options, 'startPayStandIn')
  const accounts = new Map<string, StandInAccount>()
  const requests: SeenRequest[] = []
  let requested = 0
  const known = faults()

  function addAccount (secretKey: string, account?: StandInAccountOptions): StandInAccount {
    const added = accountWith(account)
    accounts.set(secretKey, added)
    return added
  }

  for (const [secretKey, account] of Object.entries(given)) addAccount(secretKey, account)

  async function handle (incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: target = '/', headers } = incoming
    const body = await textOf(incoming)
    const location = new URL(target, url)
    const secretKey = headers.authorization?.replace(/^Bearer /, '') ?? ''
    requested++
    if (requests.push({ method, url: target, secretKey, headers }) > 1000) requests.shift()

    const requestId = newId('req')
    const [first, ...path] = location.pathname.split('/').slice(1).filter((segment) => segment !== '').map(
      decodeURIComponent
    )
    const form = formFrom(method === 'POST' ? body : location.search)
    const request = {
      method,
      path,
      form,
      idempotencyKey: headerOf(headers['idempotency-key']),
      keyEnd: hidden(secretKey),
      origin: url
    }
    const isOrganization = secretKey.startsWith('sk_org_')
    const context = headerOf(headers['stripe-context'])
    const connectedId = context ?? (isOrganization ? undefined : headerOf(headers['stripe-account']))
    const owner = LIVE_KEY.test(secretKey) ? undefined : accounts.get(secretKey)
    const found = owner ? accountFor(owner, connectedId, isOrganization) : refuseKey(secretKey)
    const account = 'status' in found ? undefined : found
    const respondTo = (): StandInResponse => {
      if (first === 'pay') return visitAny(accounts, path[0] ?? '')
      if (first !== 'v1') return refusal(404, `Unrecognized request URL (${method}: ${location.pathname}).`)
      return 'status' in found ? found : respond(found, request)
    }

    const fault = known.next(
      { method, secretKey, url: target },
      account !== undefined && replayOf(account, request) !== undefined
    )
    const failed = fault && executed(fault)
    if (account && failed) store(account, request, failed)
    if (fault) return sendFaulty(response, fault, respondTo, requestId)
    const { status, body: result, headers: own } = respondTo()
    response.writeHead(status, {
      'content-type': 'application/json',
      'request-id': requestId,
      'stripe-version': headerOf(headers['stripe-version']) ?? 'stand-in',
      ...(connectedId !== undefined && { [context === undefined ? 'stripe-account' : 'stripe-context']: connectedId }),
      ...own
    }).end(typeof result === 'string' ? result : JSON.stringify(result))
  }

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  const { port: taken } = server.address() as AddressInfo
  const url = `http://${host}:${taken}`
  log(`payment stand-in on ${url}: not a payment provider, moves no money, refuses live keys`)

  return {
    url,
    host,
    port: taken,
    protocol: 'http',
    requests,
    get requested () {
      return requested
    },
    account: (secretKey) => accounts.get(secretKey) ?? addAccount(secretKey),
    addAccount,
    fault: (fault) => known.add(fault),
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => error ? reject(error) : resolve())
        server.closeAllConnections()
      })
  }
}

function refuseKey (secretKey: string): StandInResponse {
  if (secretKey === '') return refusal(401, 'You did not provide an API key.')
  if (LIVE_KEY.test(secretKey)) return refusal(401, 'The stand-in refuses live keys.')
  return refusal(401, `Invalid API Key provided: ${hidden(secretKey)}`)
}

function hidden (secretKey: string): string {
  return `${secretKey.slice(0, 8)}****${secretKey.slice(-4)}`
}

function visitAny (accounts: ReadonlyMap<string, StandInAccount>, id: string): StandInResponse {
  const account = [...accounts.values()].flatMap((owner) => [owner, ...owner.connected.values()]).find(({ sessions }) =>
    sessions.has(id)
  )
  return visitSession(account?.sessions ?? new Map(), id)
}

function headerOf (value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

async function textOf (incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
