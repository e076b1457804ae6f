import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  inputRequired,
  type InputRequiredResult,
  type ServerContext
} from '@modelcontextprotocol/server'
import { excerpt } from '../../call/excerpt.ts'
import type { Args } from '../../model.ts'
import type { Era } from '../../types.ts'
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
}

/** A client that cannot ask. */
const NOBODY: Asking = {
  shows: { form: false, url: false },
  client: undefined,
  answer: undefined,
  state: undefined
}

/**
 * What a message says about asking the person at the client.
 * @returns a client that cannot, for revisions before 2026-07-28: they ask over a connection that this server, without
 *   sessions, does not have
 * @see [Multi round-trip requests](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr)
 */
export function askingFrom (
  era: Era,
  meta: Args | undefined,
  round: ServerContext['mcpReq'] | undefined
): Asking {
  if (era === 'legacy' || round === undefined) return NOBODY
  const { inputResponses, requestState } = round
  const { form, url } = modesOf(member(meta, CLIENT_CAPABILITIES_META_KEY, 'elicitation'))
  const name = member(meta, CLIENT_INFO_META_KEY, 'name')
  return {
    shows: { form, url },
    client: typeof name === 'string' ? excerpt(name) : undefined,
    answer: answerFrom(inputResponses?.[QUESTION]),
    state: requestState<Sealed>()
  }
}

function member (meta: Args | undefined, key: string, name: string): unknown {
  const part = meta?.[key]
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
