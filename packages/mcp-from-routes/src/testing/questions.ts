import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client'

/** What a person was asked. */
export interface Question {
  readonly message: string
  /** `form` is a yes or no, `url` a page that the person is to open. */
  readonly mode: 'form' | 'url'
  /** The page; undefined for a form. */
  readonly url: string | undefined
}

/** What the person does: says yes or opens the page, says no, or closes the question. */
export type PersonsAnswer = 'accept' | 'decline' | 'cancel'

/** Answers for the person. */
export type AnswerFor = (question: Question) => PersonsAnswer | Promise<PersonsAnswer>

export const ANSWERS: readonly unknown[] = ['accept', 'decline', 'cancel'] satisfies PersonsAnswer[]

export function questionFrom (params: ElicitRequest['params']): Question {
  return 'url' in params
    ? { message: params.message, mode: 'url', url: params.url }
    : { message: params.message, mode: 'form', url: undefined }
}

/** As a client sends it: who accepts a form ticks all that it has to tick. */
export function elicitResultFrom (action: PersonsAnswer, params: ElicitRequest['params']): ElicitResult {
  if (!ANSWERS.includes(action)) {
    throw new TypeError(`answer must return 'accept', 'decline' or 'cancel', not ${JSON.stringify(action)}`)
  }
  if (action !== 'accept' || !('requestedSchema' in params)) return { action }
  const fields = Object.entries(params.requestedSchema.properties).filter(([, { type }]) => type === 'boolean')
  return { action, content: Object.fromEntries(fields.map(([name]) => [name, true])) }
}
