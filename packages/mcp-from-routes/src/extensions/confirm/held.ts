import { errorResult } from '../../call/result.ts'
import type { Core } from '../../extension.ts'
import type { ToolResult } from '../../model.ts'
import { askingFrom, inputRequiredFrom, type Asking } from './asking.ts'
import { CONFIRMATION } from './confirmation.ts'
import { questionFrom, type Question } from './question.ts'
import { TOKEN_ARGUMENT, type Hold } from './rule.ts'
import { LIFETIME, type Sealer, type Subject } from './seal.ts'
import { memoryStore, type ConfirmStore } from './store.ts'

/** Holds calls until a person confirms them. The server stores no question: its state travels through the client. */
export function holder (sealer: Sealer, store: ConfirmStore = memoryStore(), read: Core['read']): Hold {
  return (confirm, fallback) => (call) => {
    const { tool: { public: tool }, outer, own, through, calledAs, era, meta, round } = call
    const args = read(call)
    // Nothing runs that nobody could be asked about.
    if (typeof args === 'string') return { outcome: errorResult(args) }
    const { shows, client, answer, state } = askingFrom(era, meta, round)
    // A client with an older list knows no other name than the one that it called.
    const name = calledAs ?? tool.name
    const callable = through === undefined ? name : `${through} with the name ${name}`
    const token = own[TOKEN_ARGUMENT]
    const refused = refusedBy(answer, tool.name)
    if (refused !== undefined) return { outcome: refused }

    async function isConfirmed (subject: Subject): Promise<boolean> {
      if (shows.form) {
        return answer === 'yes' && state !== undefined && sealer.isFor(state, subject) &&
          await store.use(state.id, LIFETIME)
      }
      return fallback === 'token' && typeof token === 'string' && sealer.isToken(token, subject) &&
        await store.use(token, LIFETIME)
    }

    async function resultOf (question: Question, subject: Subject): Promise<ToolResult> {
      const { text, url } = question
      const ask = async (): Promise<ToolResult> => ({
        content: [],
        answer: { ...inputRequiredFrom({ ...question, state: await sealer.state(subject) }) }
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
      async gate (request) {
        const question = await questionFrom(confirm, tool, args, request)
        if (question === undefined) return undefined
        const subject = { outer, tool: tool.name, args, question: question.text }
        if (question.url === undefined && await isConfirmed(subject)) {
          request.raw[CONFIRMATION] = { by: shows.form ? 'form' : 'token', text: question.text, client }
          return undefined
        }
        if (question.url === undefined && !shows.form && fallback === 'allow') return undefined
        return await resultOf(question, subject)
      }
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
