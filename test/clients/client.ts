import type { Call, Told, Turn } from './model.ts'
import type { Answer } from './scene.ts'

/** How a client's process is started. */
export interface Command {
  readonly command: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Where a client runs, and with what. */
export interface Place {
  /** Where its packages are installed. */
  readonly folder: string
  /** A Node.js that all clients accept. */
  readonly node: string
  /** An empty directory, its home and its working directory. */
  readonly home: string
  /** Of the MCP server. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Of the stand-in for the model's API. */
  readonly model: string
  /** Whether a person signs in: there are no headers then. */
  readonly signsIn: boolean
  /** URL of the metadata document that the client is told to be known by. */
  readonly document?: string | undefined
  /** URI of a resource that the application reads, where its library can. */
  readonly resource?: string | undefined
}

/** A client in the form in which it is released, and what it makes of answers. */
export interface Client {
  readonly id: string
  readonly name: string
  /** What is installed, with versions; the first is the client. */
  readonly packages: readonly string[]
  /** Hundreds of megabytes: only with `CLIENTS=all`. */
  readonly isLarge?: true
  /** Whether it is taken through `hour.ts`: half a minute for each, so only those that keep tokens in their own way. */
  readonly staysForHours?: true
  /** What to configure, as Markdown. */
  readonly configure: string
  /** What else somebody should know who uses it, as Markdown. */
  readonly note?: string
  /** Whether it speaks the newest revision. */
  readonly isNewest: boolean
  /** Whether it asks its person what a server wants to know; default: it does not. */
  readonly canAsk?: boolean
  /**
   * Whether it says that it can ask, but asks nobody where no person is at a terminal: it then closes every question.
   * Default: false.
   */
  readonly closesQuestions?: boolean
  /** Whether it asks for progress. */
  readonly asksForProgress: boolean
  /** Whether the model reads the server's instructions. */
  readonly showsInstructions: boolean
  /**
   * How a server knows it that reads metadata documents: by its maker's, or by one that it is told. Otherwise it
   * registers.
   */
  readonly document?: { readonly own: string } | 'told'
  /** What the model calls to read a resource; by default it cannot, and the application reads it in code of its own. */
  reads?(uri: string): Call
  /** Whether it says that it shows views. Default: false. */
  readonly showsViews?: boolean
  /** Whether it lists skills by their own method. Default: false. */
  readonly listsSkills?: boolean
  /** What stands before a tool's name when the model calls it. */
  readonly prefix?: string
  start(place: Place): Command
  /** What a person runs first who signs in; by default the client asks when it connects. */
  login?(place: Place): Command
  /** The tools that the model knows of; by default those that a request to it offers. */
  toolsOf?(turn: Turn): readonly string[]
  /** What the model calls before it can call these tools. */
  loads?(tools: readonly string[]): Call
  /** What the model reads of an answer. */
  shows(answer: Answer, tool: string): Told
  /**
   * What it reads instead, by the title of a scene: where the client checks arguments itself, or the server answers
   * none.
   */
  readonly instead?: Readonly<Record<string, Told>>
  /** The titles of scenes in which the client calls nobody. */
  readonly silent?: readonly string[]
}

/** @returns the version of the client itself */
export function versionOf ({ packages: [own = ''] }: Client): string {
  return own.replace(/^.+@/, '')
}

/** A program of the lab that uses a library: it is copied beside the library, and run there. */
export function program (name: string, ...args: readonly string[]): Client['start'] {
  return ({ folder, node, ...place }) => ({
    command: node,
    args: [`${folder}/${name}.ts`, ...args],
    env: { LAB_TASK: JSON.stringify(place) }
  })
}

/** The body of a 401, which libraries pass on. */
export const UNAUTHORIZED =
  '{"statusCode":401,"code":"DUAL_AUTH_CREDENTIAL_INVALID","error":"Unauthorized","message":"The credentials ' +
  'are not valid"}'

/** Content as it is, an error marked: for clients that leave to the application what a model reads. */
export function asContent ({ isError, content }: Answer): Told {
  return isError ? ['<is_error>', ...content] : content
}
