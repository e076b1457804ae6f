import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the lab tells a program. The program and this file are copied beside the client's package. */
export interface Task {
  /** Of the MCP server. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Of the stand-in for the model's API. */
  readonly model: string
  /** Whether a person signs in: there are no headers then. */
  readonly signsIn: boolean
  /** URL of the metadata document that the client is told to be known by. */
  readonly document?: string
  /** URI of a resource to read before the model's first turn. */
  readonly resource?: string
}

export const task: Task = JSON.parse(process.env['LAB_TASK'] ?? '')

/** The agent's model, for libraries that speak OpenAI Responses. */
export const openAi = { baseURL: `${task.model}/v1`, apiKey: 'stand-in' }

/** The application's part in reading a resource, in the way of its library. */
export async function readResource (read: (uri: string) => Promise<unknown>): Promise<void> {
  if (task.resource !== undefined) await read(task.resource)
}

interface Result {
  readonly isError?: boolean
  readonly content: ReadonlyArray<{ readonly type: string, readonly text?: string }>
}

/**
 * The smallest agent, for clients that leave to the application what a model reads: shows the content as it is, and an
 * exception by its name and message.
 */
export async function converse (
  instructions: string | undefined,
  tools: ReadonlyArray<{ readonly name: string }>,
  callTool: (call: { name: string, arguments: object }) => Promise<Result>
): Promise<void> {
  let told: string[] | undefined
  for (;;) {
    const response = await fetch(`${task.model}/turn`, {
      method: 'POST',
      body: JSON.stringify({ instructions: instructions ?? '', tools: tools.map(({ name }) => name), told })
    })
    const call = await response.json() as { name: string, arguments: object } | null
    if (call === null) return
    told = await callTool(call).then(
      (
        { isError, content }
      ) => [
        ...(isError ? ['<is_error>'] : []),
        ...content.map((block) => block.text ?? (block.type === 'image' ? '<image>' : JSON.stringify(block)))
      ],
      (error: Error) => [`<throws ${error.name}>`, error.message]
    )
  }
}

/** What the person at the client answers to a question. */
export async function person (message: string): Promise<object> {
  return await (await fetch(`${task.model}/person`, { method: 'POST', body: JSON.stringify({ message }) }))
    .json() as object
}

/** Where a browser returns to after a sign-in: on a port that nobody registered. */
const server = createServer().listen(0, '127.0.0.1').unref()
await once(server, 'listening')
const callback = new URL(`http://localhost:${(server.address() as AddressInfo).port}/callback`)

/**
 * An application's part in signing in, in the shape that all libraries share: it keeps what it is given, and asks the
 * person to open a page.
 */
export function application () {
  const kept: { client?: object, tokens?: object, verifier?: string, discovery?: object } = {}
  let arrive: (params: URLSearchParams) => void
  const returned = new Promise<URLSearchParams>((resolve) => {
    arrive = resolve
  })
  return {
    /** What came with the browser, once the person has signed in. */
    returned,
    redirectUrl: callback.href,
    clientMetadataUrl: task.document,
    clientMetadata: { client_name: 'lab', redirect_uris: [callback.href] },
    clientInformation: () => kept.client,
    saveClientInformation: (client: object) => {
      kept.client = client
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens: object) => {
      kept.tokens = tokens
    },
    redirectToAuthorization (url: URL) {
      if (!task.signsIn) return
      server.ref().once('request', (request, response) => {
        response.end()
        arrive(new URL(request.url ?? '', callback).searchParams)
        server.close()
      })
      spawn(process.env['BROWSER'] ?? '', [url.href], { stdio: 'inherit' })
    },
    codeVerifier: () => kept.verifier ?? '',
    saveCodeVerifier: (verifier: string) => {
      kept.verifier = verifier
    },
    discoveryState: () => kept.discovery,
    saveDiscoveryState: (state: object) => {
      kept.discovery = state
    },
    invalidateCredentials: () => {
      delete kept.tokens
    }
  }
}

/** Connects; if that needs a person, again when the person has signed in. */
export async function connected<Client> (
  connect: () => Promise<Client>,
  finish: () => Promise<unknown>
): Promise<Client> {
  try {
    return await connect()
  } catch (error) {
    if (!task.signsIn) throw error
    await finish()
    return await connect()
  }
}
