import type { FastifyRequest } from 'fastify'
import { errorResult, type ToolResult } from '../../call/result.ts'
import type { Settings } from '../../settings.ts'
import type { Tool } from '../../tool/tool.ts'
import { CONFIRMATION } from './confirmation.ts'
import { questionFrom, type Question } from './question.ts'
import { TOKEN_ARGUMENT, type ConfirmRule } from './rule.ts'
import { LIFETIME, type Sealed, type Sealer, type Subject } from './seal.ts'
import { memoryStore } from './store.ts'

/** What the client of a call can ask, and the answer that the message brings. */
export interface Asking {
  /** What its client can show to a person. */
  readonly shows: { readonly form: boolean, readonly url: boolean }
  /** What the client calls itself. */
  readonly client: string | undefined
  /**
   * The person's answer to the question of an earlier round. `agreed`: they accepted a URL, or a form without its
   * field.
   */
  readonly answer: 'yes' | 'agreed' | 'decline' | 'cancel' | undefined
  /** The verified state of that round. */
  readonly state: Sealed | undefined
  /** The tool that made the call, where its client does not list the tool itself. */
  readonly through?: string | undefined
}

/** A call that its route holds before the handler, until its question is answered. */
export interface Held {
  /** The arguments without the token. */
  readonly args: Readonly<Record<string, unknown>>
  /** The result of a call that the person declined; undefined for every other. */
  readonly refused: ToolResult | undefined
  /** Whether the handler may run. Rejects if the route's `confirm` function throws. */
  readonly mayRun: (request: FastifyRequest) => Promise<boolean>
  /** The result of a call that was held; undefined if it was not. */
  readonly result: () => Promise<ToolResult> | undefined
}

/**
 * The status of the inner response of a call that is held.
 *
 * @see [RFC 6585 §3](https://www.rfc-editor.org/rfc/rfc6585#section-3)
 */
export const HELD = 428
/** A client that cannot ask. */
export const NOBODY: Asking = {
  shows: { form: false, url: false },
  client: undefined,
  answer: undefined,
  state: undefined
}

/** @param args - those of the call, and those that are implied */
export type Hold = (
  tool: Tool & { readonly confirm: ConfirmRule },
  args: Readonly<Record<string, unknown>>,
  outer: FastifyRequest,
  asking?: Asking
) => Held

/** Holds calls until a person confirms them. The server stores no question: its state travels through the client. */
export function holder (sealer: Sealer, { confirmStore = memoryStore() }: Pick<Settings, 'confirmStore'>): Hold {
  return ({ public: tool, confirm: { confirm, fallback } }, given, outer, asking = NOBODY) => {
    const { shows, client, answer, state, through } = asking
    const callable = through === undefined ? tool.name : `${through} with the name ${tool.name}`
    const { [TOKEN_ARGUMENT]: token, ...others } = given
    const args = fallback === 'token' ? others : given
    let open: { readonly question: Question, readonly subject: Subject } | undefined

    async function isConfirmed (subject: Subject): Promise<boolean> {
      if (shows.form) {
        return answer === 'yes' && state !== undefined && sealer.isFor(state, subject) &&
          await confirmStore.use(state.id, LIFETIME)
      }
      return fallback === 'token' && typeof token === 'string' && sealer.isToken(token, subject) &&
        await confirmStore.use(token, LIFETIME)
    }

    async function resultOf (question: Question, subject: Subject): Promise<ToolResult> {
      const { text, url } = question
      const ask = async (): Promise<ToolResult> => ({
        content: [],
        asks: { ...question, state: await sealer.state(subject) }
      })
      if (url !== undefined) {
        // Only the host knows whether the person is done there. Do not ask again in the same call if they agreed to go.
        if (shows.url && answer !== 'yes' && answer !== 'agreed') return await ask()
        const what = `${tool.name} was not run: the person must first do something at ${url}\n${text}`
        const next = `When the person says it is done, call ${callable} again with the same arguments.`
        return errorResult(`${what}\n${next}`)
      }
      if (shows.form) return await ask()
      if (fallback === 'token') {
        const what = `${tool.name} was not run yet: a person must agree to this first:\n${text}`
        const how = `the same arguments and ${TOKEN_ARGUMENT} ${JSON.stringify(sealer.token(subject))}`
        const next = `Ask the person. If they agree, call ${callable} again within two minutes, with ${how}`
        return errorResult(`${what}\n${next}`)
      }
      return errorResult(
        `${tool.name} was not run: a person must agree first, and this client cannot ask (it does not support ` +
          `elicitation of MCP revision 2026-07-28). The call would do this:\n${text}\nThe person can do it in ` +
          'another way, or with another client.'
      )
    }

    return {
      args,
      refused: refusedBy(answer, tool.name),
      async mayRun (request) {
        const question = await questionFrom(confirm, tool, args, request)
        if (question === undefined) return true
        const subject = { outer, tool: tool.name, args, question: question.text }
        if (question.url === undefined && await isConfirmed(subject)) {
          request.raw[CONFIRMATION] = { by: shows.form ? 'form' : 'token', text: question.text, client }
          return true
        }
        if (question.url === undefined && !shows.form && fallback === 'allow') return true
        open = { question, subject }
        return false
      },
      result: () => open && resultOf(open.question, open.subject).then((result) => ({ ...result, statusCode: HELD }))
    }
  }
}

/** The result of a declined or closed question, worded so that the model does not try again. */
function refusedBy (answer: Asking['answer'], tool: string): ToolResult | undefined {
  if (answer === 'decline') {
    return errorResult(`${tool} was not run: the person said no. Do not call it again unless they ask for it.`)
  }
  if (answer === 'cancel') {
    return errorResult(
      `${tool} was not run: the person closed the question without an answer. Ask what they want before you ` +
        'call it again.'
    )
  }
  return undefined
}
