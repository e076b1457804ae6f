import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client'
import {
  createTaskSessionFromClient,
  type RawClientDispatch,
  type TaskEnabledSession
} from '@modelcontextprotocol/ext-tasks/client'
import t from 'tap'
import { CLIENTS, connect, post, type Teardown } from '../../build.ts'
import { jobsApp, KIM } from './jobs.ts'

const INFO = { name: 'test-client', version: '0.0.0' }
const DONE = '{"status":"done","total":10,"processed":10}'
const OPTIONS = { task: { preference: 'require' } } as const
const ARGS = { shop: 's1', wait: '0', isShort: true }

async function clientV1 (t: Teardown, url: URL): Promise<ClientV1> {
  const client = new ClientV1(INFO)
  t.teardown(() => client.close())
  await client.connect(
    new TransportV1(url, { requestInit: { headers: KIM } }) as unknown as Parameters<ClientV1['connect']>[0]
  )
  await client.listTools()
  return client
}

/** The official client of tasks, in the manner of 2025-11-25 or with the extension of 2026-07-28. */
async function sessionOf (t: Teardown, url: URL, generation: 'v1' | 'v2'): Promise<TaskEnabledSession<void>> {
  const clientCapabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
  const client = new ClientV2(
    INFO,
    generation === 'v1' ? {} : { capabilities: clientCapabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } }
  )
  await client.connect(new TransportV2(url, { requestInit: { headers: KIM } }))
  const rawDispatch: RawClientDispatch = async (request) => {
    const { method, params } = request as { method: string, params: { name?: string, taskId?: string } }
    const { body } = await post(url, { ...request as object, jsonrpc: '2.0', id: 1 }, {
      ...KIM,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      'mcp-name': params.name ?? params.taskId ?? ''
    })
    return body as Awaited<ReturnType<RawClientDispatch>>
  }
  const session = createTaskSessionFromClient(
    client,
    {
      endpointId: 'jobs',
      ...generation === 'v1'
        ? { tools: await declarationsOf(client) }
        : { rawDispatch, v2RequestFraming: { protocolVersion: '2026-07-28', clientInfo: INFO, clientCapabilities } }
    } as Parameters<typeof createTaskSessionFromClient>[1]
  )
  t.teardown(async () => {
    await session.close()
    await client.close()
  })
  return session as TaskEnabledSession<void>
}

async function declarationsOf (client: ClientV2): Promise<object> {
  const { tools } = await client.listTools()
  return {
    currentTool: (name: string) => {
      const tool = tools.find((one) => one.name === name)
      return tool && { ...tool, taskSupport: tool.execution?.taskSupport }
    }
  }
}

t.test('SDK 1.x: a tool that starts work is offered as a task, and followed to its end', async (t) => {
  const { url, reached } = await jobsApp(t)
  const client = await clientV1(t, url)
  const { tools } = await client.listTools()
  t.strictSame(tools.map(({ name, execution }) => [name, execution?.taskSupport]), [
    ['cancel_job', undefined],
    ['get_job', undefined],
    ['get_report', undefined],
    ['start_job', 'optional']
  ])
  t.strictSame(client.getServerCapabilities()?.tasks, { cancel: {}, requests: { tools: { call: {} } } })
  const seen: unknown[] = []
  for await (
    const message of client.experimental.tasks.callToolStream(
      { name: 'start_job', arguments: ARGS },
      CallToolResultSchema,
      { task: {} }
    )
  ) {
    if (message.type === 'taskCreated' || message.type === 'taskStatus') {
      seen.push([message.type, message.task.status, message.task.statusMessage])
    } else seen.push(message.type === 'result' ? message.result.content : message)
  }
  t.strictSame(seen, [['taskCreated', 'working', undefined], ['taskStatus', 'working', '0 of 10'], [
    'taskStatus',
    'completed',
    '10 of 10'
  ], [{ type: 'text', text: DONE }]])
  t.strictSame(reached, ['POST /shops/s1/jobs', ...Array.from({ length: 3 }, () => 'GET /shops/s1/jobs/1')])
})

t.test('SDK 1.x: what the route refuses reaches the model, though it was to be a task', async (t) => {
  const { url } = await jobsApp(t)
  const client = await clientV1(t, url)
  const seen: unknown[] = []
  for await (
    const message of client.experimental.tasks.callToolStream(
      { name: 'start_job', arguments: { shop: 's1', statusCode: 'x' } },
      CallToolResultSchema,
      { task: {} }
    )
  ) {
    seen.push(message.type === 'taskStatus' ? [message.task.status, message.task.statusMessage] : message.type)
    if (message.type === 'taskStatus') {
      seen.push(await client.experimental.tasks.getTaskResult(message.task.taskId, CallToolResultSchema))
    }
  }
  const why = /^statusCode must be integer, not string/
  t.match(seen, ['taskCreated', ['failed', why], { isError: true, content: [{ type: 'text', text: why }] }, 'error'])
})

t.test('SDK 1.x: a task is cancelled', async (t) => {
  const { url, reached } = await jobsApp(t)
  const client = await clientV1(t, url)
  const stream = client.experimental.tasks.callToolStream(
    { name: 'start_job', arguments: { shop: 's1' } },
    CallToolResultSchema,
    { task: {} }
  )
  const { value } = await stream.next()
  if (value?.type !== 'taskCreated') throw new TypeError('no task')
  t.match(await client.experimental.tasks.cancelTask(value.task.taskId), {
    status: 'cancelled',
    statusMessage: 'Somebody stopped it'
  })
  t.match(await client.experimental.tasks.getTaskResult(value.task.taskId, CallToolResultSchema), {
    isError: true,
    content: [{ text: 'The work was cancelled. Somebody stopped it' }]
  })
  t.ok(reached.includes('DELETE /shops/s1/jobs/1'))
})

for (const generation of ['v1', 'v2'] as const) {
  t.test(`the official client of tasks, ${generation}: follows work to its end, and cancels it`, async (t) => {
    const { url, reached } = await jobsApp(t)
    const session = await sessionOf(t, url, generation)
    const execution = await session.callTool('start_job', ARGS, OPTIONS)
    const { outcome } = await execution.settle()
    t.match(outcome, { status: 'completed', result: { content: [{ type: 'text', text: DONE }] } })
    t.ok(reached.filter((request) => request === 'GET /shops/s1/jobs/1').length >= 2)
    const other = await session.callTool('start_job', { shop: 's2', wait: '0' }, OPTIONS)
    await other.cancel()
    t.match(await other.settle(), { outcome: { status: 'cancelled' } })
    t.ok(reached.includes('DELETE /shops/s2/jobs/2'))
  })
}

t.test('every client without tasks is told how to ask for the status, and can', async (t) => {
  const { url } = await jobsApp(t)
  for (const which of CLIENTS) {
    const client = await connect(t, which, url, KIM)
    const { tools } = await client.listTools()
    t.ok(tools.every(({ outputSchema }) => outputSchema === undefined))
    const { content, structuredContent } = await client.callTool({ name: 'start_job', arguments: { shop: 's1' } }) as {
      content: Array<{ text: string }>,
      structuredContent?: unknown
    }
    const [, when, given = ''] =
      /^start_job has started the work, which is still running\. Call get_job in (\d+ s) with (\{.*?\}) to get its status, and again until it is done\. Do not call start_job again for the same work\.$/
        .exec(content[0]?.text ?? '') ?? []
    t.equal(when, '5 s', which)
    t.equal(structuredContent, undefined, 'nothing that hides the sentence')
    t.match(await client.callTool({ name: 'get_job', arguments: JSON.parse(given) }), {
      content: [{ text: /^\{"status":"pending"/ }]
    })
  }
})
