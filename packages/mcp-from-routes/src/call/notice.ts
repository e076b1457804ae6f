import type { Outcome, Tool } from '../model.ts'

/**
 * The result of a call by a former name, which says so. The name that was called is said to work on: a client with a
 * cached list knows no other.
 *
 * Clients show a model the content of a result, or only its structure. A list has the notice in both. A record has it
 * in its content: its structure is the route's own, and its schema may allow no more.
 */
export function withNotice (outcome: Outcome, { public: { name }, output }: Tool, called: string): Outcome {
  if (!('content' in outcome) || outcome.answer !== undefined) return outcome
  const notice = `The tool ${called} is now called ${name}. The old name still works.`
  const { content, structured } = outcome
  return {
    ...outcome,
    content: [...content, { type: 'text', text: notice }],
    ...structured !== undefined && output?.wrapped === true && {
      structured: {
        text: `${structured.text.slice(0, -1)},"notice":${JSON.stringify(notice)}}`,
        value: { ...structured.value as object, notice }
      }
    }
  }
}
