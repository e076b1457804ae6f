import type { Outcome, Tool } from '../model.ts'
import { withBeside } from './beside.ts'

/**
 * The result of a call by a former name, which says so. The name that was called is said to work on: a client with a
 * cached list knows no other.
 *
 * Clients show a model the content of a result, or only its structure, so both have the notice.
 */
export function withNotice (outcome: Outcome, tool: Tool, called: string): Outcome {
  if (!('content' in outcome) || outcome.answer !== undefined) return outcome
  const notice = `The tool ${called} is now called ${tool.public.name}. The old name still works.`
  const { content, structured } = outcome
  return {
    ...outcome,
    content: [...content, { type: 'text', text: notice }],
    ...structured !== undefined && { structured: withBeside(structured, tool, 'notice', notice) }
  }
}
