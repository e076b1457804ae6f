import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  inputRequired,
  type InputRequiredResult,
  type ServerContext
} from '@modelcontextprotocol/server'
import { excerpt } from '../../call/excerpt.ts'
import type { Asking } from './held.ts'
import type { OpenQuestion } from './question.ts'
import type { Sealed } from './seal.ts'
import { isObject } from '../../schema/json-schema.ts'

/** The names of the question and of its only field. */
const QUESTION = 'confirm'
/** A form with a field: without one, closing the message could count as a yes. */
const FORM = {
  type: 'object' as const,
  properties: { [QUESTION]: { type: 'boolean' as const, title: 'Yes, do it' } },
  required: [QUESTION]
}

/**
 * What a message says about asking the person at the client.
 * @returns undefined for revisions before 2026-07-28: they ask over a connection that this server, without sessions,
 *   does not have
 * @see [Multi round-trip requests](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr)
 */
export function askingFrom (
  era: 'legacy' | 'modern',
  { envelope, inputResponses, requestState }: ServerContext['mcpReq']
): Asking | undefined {
  if (era === 'legacy') return undefined
  const { form, url } = modesOf(member(envelope, CLIENT_CAPABILITIES_META_KEY, 'elicitation'))
  const name = member(envelope, CLIENT_INFO_META_KEY, 'name')
  return {
    shows: { form, url },
    client: typeof name === 'string' ? excerpt(name) : undefined,
    answer: answerFrom(inputResponses?.[QUESTION]),
    state: requestState<Sealed>()
  }
}

function member (envelope: object | undefined, key: string, name: string): unknown {
  const part: unknown = envelope && Reflect.get(envelope, key)
  return isObject(part) ? part[name] : undefined
}

/** A capability without a mode means forms, which used to be the only mode. */
function modesOf (elicitation: unknown): Asking['shows'] {
  if (!isObject(elicitation)) return { form: false, url: false }
  return { form: elicitation.form !== undefined || elicitation.url === undefined, url: elicitation.url !== undefined }
}

function answerFrom (response: unknown): Asking['answer'] {
  if (!isObject(response)) return undefined
  const { action, content } = response
  if (action === 'decline' || action === 'cancel') return action
  if (action !== 'accept') return undefined
  const field = isObject(content) ? content[QUESTION] : undefined
  if (field === true) return 'yes'
  return field === undefined ? 'agreed' : 'decline'
}

/** Asks the person at the client. */
export function inputRequiredFrom ({ text, url, state }: OpenQuestion): InputRequiredResult {
  const question = url === undefined
    ? inputRequired.elicit({ message: text, requestedSchema: FORM })
    : inputRequired.elicitUrl({ message: text, url })
  return inputRequired({ inputRequests: { [QUESTION]: question }, requestState: state })
}
