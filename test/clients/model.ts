import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { dialects } from './dialects.ts'

/** What a model reads of a tool's result: strings as they are, anything else by its kind. */
export type Told = readonly string[]

/** A request to the model: all that it knows when it takes its turn. */
export interface Turn {
  /** What the client says beside the conversation. */
  readonly instructions: string
  /** The names of the tools, as the model would call them. */
  readonly tools: readonly string[]
  /** The result of the last call; undefined before the first. */
  readonly told: Told | undefined
}

/** What the model says: a call, or the end. */
export interface Call {
  readonly name: string
  readonly arguments: object
}

/** What the person at the client answers to a question, as the protocol has it. */
export type Person = (question: string) => Promise<object>

/** A stand-in for the APIs of models. The lab decides, turn by turn, what the model says. */
export interface Model {
  readonly url: string
  /** Answers the turn that is open with a call, or ends the conversation; a call resolves with the next turn. */
  turn(): Promise<Turn>
  say(call: Call | undefined, person?: Person): void
  close(): void
}

/** Starts a stand-in on a port of its own. */
export async function openModel (): Promise<Model> {
  const turns: Turn[] = []
  const readers: Array<(turn: Turn) => void> = []
  let answer: ((call: Call | undefined) => void) | undefined
  let asked: Person = async () => ({ action: 'cancel' })

  async function handle (request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '', 'http://model')
    const body = JSON.parse(await text(request) || '{}')
    if (pathname === '/person') {
      response.end(JSON.stringify(await asked(body.message)))
      return
    }
    const dialect = dialects[pathname]
    if (dialect === undefined) {
      response.writeHead(404).end('{}')
      return
    }
    // Clients ask more than the conversation: for a title, say. Those requests offer no tools.
    const turn = dialect.read(body)
    if (turn === undefined) return dialect.answer(response, body, undefined)
    answer = (call) => dialect.answer(response, body, call)
    const reader = readers.shift()
    if (reader === undefined) turns.push(turn)
    else reader(turn)
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    turn: async () => turns.shift() ?? await new Promise((resolve) => readers.push(resolve)),
    say (call, person = asked) {
      asked = person
      const reply = answer
      answer = undefined
      reply?.(call)
    },
    close () {
      server.close()
      server.closeAllConnections()
    }
  }
}
