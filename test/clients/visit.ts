import { isDeepStrictEqual } from 'node:util'
import type { Client } from './client.ts'
import type { Person, Told, Turn } from './model.ts'
import { documentOf } from './internet/documents.ts'
import { normal } from './normal.ts'
import type { Exchange, Recorder } from './recorder.ts'
import type { Answer, Scene, Visit } from './scene.ts'
import { openSession, TooLate } from './session.ts'
import { SKILL } from './skill.ts'

/** What came of a scene with a client. */
export interface Outcome {
  readonly client: Client
  readonly scene: string
  /** What the model read. */
  readonly told: Told
  /** What was not as it must be, a sentence each. */
  readonly problems: readonly string[]
}

/** How long a client is watched that waits for a person, in milliseconds. */
const WAIT = 5000

/** Takes a client through a visit; every scene has an outcome, also when the client gives up. */
export async function take (
  client: Client,
  visit: Visit,
  recorder: Recorder,
  { folder, node }: { readonly folder: string, readonly node: string }
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  const { prefix = '' } = client
  const origin = visit.person === undefined ? recorder.url : visit.origin
  const session = await openSession(client, {
    folder,
    node,
    url: `${origin}/mcp`,
    headers: visit.headers,
    document: visit.byDocument && documentOf(client.id),
    resource: visit.isFirst && SKILL.uri
  }, visit.person)
  for (const [scene, look] of [['list', list], ['instructions', instructions]] as const) {
    const outcome = { client, scene, ...look(client, visit, session.first) }
    if (visit.isFirst || outcome.problems.length > 0) outcomes.push(outcome)
  }
  if (client.loads) await session.call(client.loads(visit.scenes.map(({ tool }) => prefix + tool)))
  if (visit.isFirst) {
    const told = client.reads && (await session.call(client.reads(SKILL.uri))).told?.map(normal)
    outcomes.push({
      client,
      scene: SKILL.title,
      told: told ?? [],
      problems: [
        ...told ? differ('the model reads', skillReadBy(client), told) : [],
        ...ofExtensions(client, recorder.exchanges)
      ]
    })
  }

  let isOver = false
  for (const scene of visit.scenes) {
    await scene.before?.()
    const start = recorder.exchanges.length
    const read: string[] = []
    recorder.tamper(scene.asks?.tamper ?? (() => {}))
    const waits = client.instead?.[scene.title]?.[0] === '<nothing>'
    const told = isOver
      ? ['<ended>']
      : await session.call(
        { name: prefix + scene.tool, arguments: scene.arguments },
        waits ? WAIT : undefined,
        personIn(scene, read)
      ).then(({ told }) => told ?? [], (error: Error) => {
        isOver = true
        return error instanceof TooLate ? ['<nothing>'] : ended(error)
      })
    const model = told.map(normal)
    outcomes.push({
      client,
      scene: scene.title,
      told: model,
      problems: [
        ...atPerson(client, scene, read),
        ...(visit.person === undefined ? atServer(client, scene, recorder.exchanges.slice(start)) : []),
        ...atModel(client, scene, model)
      ]
    })
  }
  await session.end()
  return outcomes
}

/** What there is of a client that gave up: the name and message of its error, or all that there is. */
export function ended ({ message }: Error): Told {
  return ['<ended>', normal(/^\w*Error: .*/m.exec(message)?.[0] ?? message)]
}

type Verdict = Pick<Outcome, 'told' | 'problems'>

function list ({ toolsOf = offered, prefix = '' }: Client, { tools }: Visit, first: Turn): Verdict {
  const expected = tools.map((name) => prefix + name)
  const names = toolsOf(first).filter((name) => name.startsWith(prefix))
  return { told: [`${names.length} tools, as ${names[0]}`], problems: differ('lists', expected, names.toSorted()) }
}

function offered ({ tools }: Turn): readonly string[] {
  return tools
}

function instructions ({ showsInstructions }: Client, { instructions }: Visit, first: Turn): Verdict {
  const isShown = first.instructions.includes(instructions)
  return { told: [isShown ? 'yes' : 'no'], problems: differ('shows the instructions', showsInstructions, isShown) }
}

/** The person in a scene. @param read - gets each question */
function personIn ({ asks }: Scene, read: string[]): Person {
  return async (question) => {
    read.push(normal(question))
    // Who is asked once more has enough of it.
    if (asks === undefined || read.length > 1) return { action: 'cancel' }
    await asks.meanwhile?.()
    return asks.says === 'yes'
      ? { action: 'accept', content: { confirm: true } }
      : { action: asks.says === 'no' ? 'decline' : 'cancel' }
  }
}

/** Some clients have nobody whom the lab plays. */
function atPerson ({ canAsk = false }: Client, { asks }: Scene, read: readonly string[]): readonly string[] {
  if (asks === undefined || !canAsk) return differ('a person reads', [], read)
  return differ('the person reads', [asks.reads, ...[asks.readsAgain ?? []].flat()], read)
}

/** What reached the server, and what it answered. */
function atServer (
  { silent = [], asksForProgress, canAsk = false, closesQuestions = false }: Client,
  scene: Scene,
  exchanges: readonly Exchange[]
): readonly string[] {
  const calls = exchanges.filter(({ body }) => body?.method === 'tools/call')
  const elsewhere = exchanges.filter(({ path }) => path !== '/mcp').map(({ method, path }) => `${method} ${path}`)
  if (silent.includes(scene.title)) return differ('calls', 0, calls.length)
  const [call] = calls
  const last = calls.at(-1)
  if (call === undefined || last === undefined) return ['nothing reached the server']
  const answered = answerOf(last)
  const closes = closesQuestions && scene.asks !== undefined
  const asked = scene.asks?.readsAgain === undefined ? 2 : 3
  return [
    ...differ('calls', scene.asks === undefined || !(canAsk || closes) ? 1 : asked, calls.length),
    // Where the credential is not valid, looking for a way to sign in is right.
    ...('status' in scene.says ? [] : differ('also asks', [], elsewhere)),
    ...differ('sends', scene.arguments, call.body.params.arguments),
    ...differ('asks for progress', asksForProgress, call.body.params._meta?.progressToken !== undefined),
    ...closes
      ? []
      : differ(
        'the server says',
        'status' in scene.says ? scene.says : { isError: scene.says.isError, content: scene.says.content },
        answered
      )
  ]
}

function answerOf ({ status, answer }: Exchange): Pick<Answer, 'isError' | 'content'> | { readonly status: number } {
  if (status !== 200) return { status }
  const messages = answer.startsWith('{')
    ? [answer]
    : [...answer.matchAll(/^data: (.+)$/gm)].map(([, message = '']) => message)
  const { result } = JSON.parse(messages.at(-1) ?? '{}')
  if (result === undefined) return { isError: true, content: messages.map(normal) }
  if (result.resultType === 'input_required') return { isError: false, content: ['<asks>'] }
  return {
    isError: result.isError ?? false,
    content: result.content.map((block: any) =>
      normal(block.text ?? (block.type === 'image' ? '<image>' : JSON.stringify(block)))
    )
  }
}

/** @returns what the model must read of the page of a skill */
function skillReadBy ({ instead = {} }: Client): Told {
  return instead[SKILL.title] ?? [SKILL.text]
}

/** What the client says that it can do, and what it asks for by itself. */
function ofExtensions (
  { listsSkills = false, showsViews = false }: Client,
  exchanges: readonly Exchange[]
): readonly string[] {
  const reads = exchanges.filter(({ body }) => body?.method === 'resources/read' && body.params.uri === SKILL.uri)
  return [
    ...differ(
      'reads the skill',
      true,
      reads.some(({ status, answer }) => status === 200 && answer.includes(JSON.stringify(SKILL.text).slice(1, -1)))
    ),
    ...differ('lists skills', listsSkills, exchanges.some(({ body }) => body?.method === 'skills/list')),
    ...differ(
      'says that it shows views',
      showsViews,
      exchanges.some(({ body }) => JSON.stringify(body?.params ?? {}).includes('io.modelcontextprotocol/ui'))
    )
  ]
}

/** @returns what the model must read; undefined when nobody said it */
export function readBy ({ shows, instead = {} }: Client, { title, says, tool }: Scene): Told | undefined {
  return instead[title] ?? ('status' in says ? undefined : shows(says, tool))
}

function atModel (client: Client, scene: Scene, told: Told): readonly string[] {
  const expected = readBy(client, scene)
  if (expected === undefined) return [`nobody said what the model reads; it is ${JSON.stringify(told)}`]
  return differ('the model reads', expected, told)
}

function differ (what: string, expected: unknown, actual: unknown): readonly string[] {
  return isDeepStrictEqual(actual, expected)
    ? []
    : [`${what}\n  expected ${JSON.stringify(expected)}\n  got      ${JSON.stringify(actual)}`]
}
