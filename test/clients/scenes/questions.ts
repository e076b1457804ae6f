import { fixtureTools } from '../fixture.ts'
import { content, error, type Scene, type Stage, type Visit } from '../scene.ts'

const NO_ANSWER =
  'drop_record was not run: the person closed the question without an answer. Ask what they want before you ' +
  'call it again.'

/** With a person who is asked before a record is dropped. */
export async function questions ({ fixture, disconnect, redirect }: Stage): Promise<Visit> {
  let state: unknown
  const scene = (
    title: string,
    name: string,
    asks: Partial<NonNullable<Scene['asks']>>,
    says: Scene['says']
  ): Scene => ({
    title,
    tool: 'drop_record',
    arguments: { name },
    asks: { reads: `Drop “${name}”?`, says: 'yes', ...asks },
    says
  })
  return {
    ...visit('questions', fixture.origin),
    canAsk: true,
    scenes: [
      scene('yes', 'one', {
        tamper: ({ requestState }) => {
          state = requestState
        }
      }, content('Dropped one')),
      scene(
        'no',
        'two',
        { says: 'no' },
        error('drop_record was not run: the person said no. Do not call it again unless they ask for it.')
      ),
      scene('no answer', 'three', { says: 'nothing' }, error(NO_ANSWER)),
      // Who answers for another record is asked about that; nobody wants it.
      scene('altered', 'four', {
        tamper: (params) => {
          params.arguments = { name: 'fourteen' }
        },
        readsAgain: 'Drop “fourteen”?'
      }, error(NO_ANSWER)),
      scene('replayed', 'one', {
        tamper: (params) => {
          if (params.inputResponses.confirm.action === 'accept') params.requestState = state
        },
        readsAgain: 'Drop “one”?'
      }, error(NO_ANSWER)),
      scene(
        'forged',
        'five',
        {
          tamper: (params) => {
            params.requestState = 'v1.e30.AAAA'
          }
        },
        error(
          '{"jsonrpc":"2.0","id":N,"error":{"code":-32602,"message":"Invalid or expired ' +
            'requestState","data":{"reason":"invalid_request_state"}}}'
        )
      ),
      scene('replica', 'six', { meanwhile: async () => redirect(fixture.replica) }, content('Dropped six')),
      scene('restart meanwhile', 'seven', {
        meanwhile: async () => {
          redirect(fixture.origin)
          await fixture.restart()
          disconnect()
        }
      }, content('Dropped seven'))
    ]
  }
}

/** With a client that cannot ask. */
export async function nobody ({ fixture }: Stage): Promise<Visit> {
  return {
    ...visit('nobody', fixture.origin),
    canAsk: false,
    scenes: [{
      title: 'nobody to ask',
      tool: 'drop_record',
      arguments: { name: 'eight' },
      asks: { reads: 'Drop “eight”?', says: 'nothing' },
      says: error(
        'drop_record was not run: a person must agree first, and this client cannot ask (it does not support ' +
          'elicitation of MCP revision 2026-07-28). The call would do this:\nDrop “eight”?\nThe person can do it ' +
          'in another way, or with another client.'
      )
    }]
  }
}

function visit (name: string, origin: string): Omit<Visit, 'scenes'> {
  return { name, origin, headers: {}, tools: fixtureTools, instructions: 'Tools to look at.' }
}
