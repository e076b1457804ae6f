import type { Agent } from '../agent.ts'
import type { WholeCase } from './case.ts'
import { ask } from './ask.ts'
import type { Conversation, ModelCall, ToolAnswer, Turn } from './dialect.ts'
import type { ModelEndpoint } from './endpoint.ts'

/** What a model did when the person said it once. */
export interface Run {
  readonly turns: readonly Turn[]
}

/**
 * Lets a person say it once.
 *
 * @param agent - shows the tools, and runs those that are called before the last step
 */
export async function runCase ({ says, steps }: WholeCase, agent: Agent, endpoint: ModelEndpoint): Promise<Run> {
  const tools = (await agent.tools()).map(({ name, description = '', inputSchema }) => ({
    name,
    description,
    inputSchema
  }))
  const rounds: Array<Conversation['rounds'][number]> = []
  const turns: Turn[] = []
  while (turns.length < steps) {
    const turn = await ask(endpoint, {
      model: endpoint.model,
      system: agent.client.getInstructions(),
      tools,
      says,
      rounds
    })
    turns.push(turn)
    if (turn.calls.length === 0 || turns.length === steps) break
    const answers: ToolAnswer[] = []
    for (const call of turn.calls) answers.push(await answerTo(call, agent))
    rounds.push({ turn, answers })
  }
  return { turns }
}

/** What the model reads of its call. It may be any call. */
async function answerTo ({ id, name, args }: ModelCall, agent: Agent): Promise<ToolAnswer> {
  if (args === undefined) return { id, text: 'The arguments are no JSON object', isError: true }
  try {
    const { text, isError } = await agent.call(name, args, { unchecked: true })
    return { id, text, isError }
  } catch (error) {
    // An error of the protocol: the tool does not exist, say. All others are of the test.
    const { code, message } = error as { readonly code?: unknown, readonly message: string }
    if (typeof code !== 'number') throw error
    return { id, text: message, isError: true }
  }
}
