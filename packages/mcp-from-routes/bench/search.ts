// npm run search: three jobs each on the whole APIs of GitHub and Directus, once with a list of all tools and once with
// a set with search, by a client that loads nothing on demand. Prints what a model reads, in tokens of o200k_base, and
// the calls it makes. Fails when a search does not find the tool that a job needs. The descriptions are fetched once,
// by npm, into node_modules/.cache, and never committed.
import Fastify from 'fastify'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import mcpFromRoutes from '../src/index.ts'
import { checkArgumentNames } from '../src/tool/argument-names.ts'
import { isObject } from '../src/schema/json-schema.ts'
import { refResolver } from '../src/schema/refs.ts'
import { toolFromRoute } from '../src/tool/tool.ts'
import { routesFromOpenApi } from '../test/openapi.ts'
import { descriptionOf, OPTIONS } from './description.ts'
import { search } from '../src/extensions/search/index.ts'

/** What somebody wants to be done, step by step: the words by which a model looks for the tool, and the call. */
type Job = ReadonlyArray<
  { readonly query: string, readonly tool: string, readonly args: Readonly<Record<string, unknown>> }
>

const REPOSITORY = { owner: 'acme', repo: 'shop' }
const APIS = [
  {
    name: 'GitHub',
    package: '@octokit/openapi@23.0.2',
    file: 'generated/api.github.com.json',
    jobs: {
      'report a bug, and label it': [
        {
          query: 'create issue',
          tool: 'issues_create',
          args: { ...REPOSITORY, title: 'Login fails', body: 'Since Monday.' }
        },
        {
          query: 'add labels to an issue',
          tool: 'issues_add-labels',
          args: { ...REPOSITORY, issue_number: 7, body: { labels: ['bug'] } }
        }
      ],
      'see why a workflow failed, and run it again': [
        {
          query: 'list workflow runs of a repository',
          tool: 'actions_list-workflow-runs-for-repo',
          args: { ...REPOSITORY, status: 'failure', per_page: 1 }
        },
        {
          query: 'list jobs of a workflow run',
          tool: 'actions_list-jobs-for-workflow-run',
          args: { ...REPOSITORY, run_id: 5 }
        },
        { query: 'rerun failed jobs', tool: 'actions_re-run-workflow-failed-jobs', args: { ...REPOSITORY, run_id: 5 } }
      ],
      'merge a pull request whose checks have passed': [
        { query: 'get pull request', tool: 'pulls_get', args: { ...REPOSITORY, pull_number: 12 } },
        { query: 'check runs for a git reference', tool: 'checks_list-for-ref', args: { ...REPOSITORY, ref: 'abc' } },
        { query: 'merge pull request', tool: 'pulls_merge', args: { ...REPOSITORY, pull_number: 12 } }
      ]
    }
  },
  {
    name: 'Directus',
    package: '@directus/specs@15.2.0',
    file: 'dist/openapi.json',
    jobs: {
      'invite an editor': [
        { query: 'list roles', tool: 'getRoles', args: {} },
        { query: 'invite user by email', tool: 'invite', args: { email: 'ada@example.com' } }
      ],
      'correct the title of an article': [
        { query: 'list items of a collection', tool: 'getItems', args: { collection: 'articles', search: 'Lovelace' } },
        {
          query: 'update an item',
          tool: 'updateItem',
          args: { collection: 'articles', id: '1', body: { title: 'Ada Lovelace' } }
        }
      ],
      'add a field to a collection': [
        { query: 'fields in a collection', tool: 'getCollectionFields', args: { collection: 'articles' } },
        {
          query: 'create field in collection',
          tool: 'createField',
          args: { collection: 'articles', body: { field: 'subtitle', type: 'string' } }
        }
      ]
    }
  }
] as const satisfies ReadonlyArray<{ readonly jobs: Readonly<Record<string, Job>>, readonly [key: string]: unknown }>

/** Every route that can be a tool, tagged; it answers with what it gets. */
async function serve (document: Readonly<Record<string, unknown>>) {
  const app = Fastify()
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => JSON.stringify)
  await app.register(mcpFromRoutes, {
    serverInfo: { name: 'api', version: '1.0.0' },
    extensions: [search({ path: '/search' })]
  })
  const routes = routesFromOpenApi(document)
  const resolver = refResolver(routes[0]?.shared ?? {})
  app.addSchema({ ...Object(routes[0]?.shared.openapi) as object, $id: 'openapi' })
  for (const route of routes) {
    try {
      checkArgumentNames(route.url, toolFromRoute(route, OPTIONS, resolver))
    } catch {
      continue
    }
    app.route({
      method: String(route.method),
      url: route.url,
      schema: route.schema,
      handler: async ({ params, query, body }) => ({ params, query, body })
    })
  }
  return { app, url: new URL(await app.listen({ host: '127.0.0.1', port: 0 })) }
}

/** A client for a model that reads name, description and arguments of every listed tool, and all that calls return. */
class Reader {
  readonly #client = new Client({ name: 'reader', version: '1.0.0' }, {
    versionNegotiation: { mode: { pin: '2026-07-28' } }
  })
  /** Tokens in front of the model, and all that it has read in every turn. */
  context = 0
  read = 0
  calls = 0

  async connect (url: URL): Promise<number> {
    await this.#client.connect(new StreamableHTTPClientTransport(url))
    const { tools } = await this.#client.listTools()
    this.context = tools.reduce(
      (sum, { name, description, inputSchema }) =>
        sum + countTokens(JSON.stringify({ name, description, inputSchema })),
      0
    )
    return this.context
  }

  async call (name: string, args: Readonly<Record<string, unknown>>): Promise<string> {
    this.read += this.context
    this.calls += 1
    const { content, isError } = await this.#client.callTool({ name, arguments: args })
    const [said] = content as ReadonlyArray<{ text?: string }>
    const text = said?.text ?? ''
    if (isError === true) throw new Error(`${name}: ${text}`)
    this.context += countTokens(JSON.stringify({ name, arguments: args })) + countTokens(text)
    return text
  }

  /** The turn of the answer. */
  async end (): Promise<this> {
    this.read += this.context
    await this.#client.close()
    return this
  }
}

/** What a set with search costs the model that does the job. */
async function bySearch (url: URL, job: Job): Promise<Reader> {
  const reader = new Reader()
  await reader.connect(url)
  for (const { query, tool, args } of job) {
    const found = (await reader.call('search_tools', { query })).split('\n')
    const line = found.find((text) => text.startsWith(`${tool}(`))
    if (line === undefined) throw new Error(`${JSON.stringify(query)} does not find ${tool}:\n${found.join('\n')}`)
    const [signature = ''] = line.split(/\) (?:reads|writes): /)
    // An argument that the line leaves out, or that holds a record, has to be looked up.
    const isSaid = Object.entries(args).every(([name, value]) =>
      new RegExp(`[( ]${name}\\??: `).test(signature) && !isObject(value)
    )
    if (!isSaid) await reader.call('describe_tools', { names: [tool] })
    await reader.call(line.includes(') reads: ') ? 'call_reading_tool' : 'call_writing_tool', {
      name: tool,
      arguments: args
    })
  }
  return await reader.end()
}

async function byList (url: URL, job: Job): Promise<Reader> {
  const reader = new Reader()
  await reader.connect(url)
  for (const { tool, args } of job) await reader.call(tool, args)
  return await reader.end()
}

for (const api of APIS) {
  const { app, url } = await serve(descriptionOf(api))
  const [list, search] = await Promise.all(
    ['/mcp', '/search'].map(async (path) => await new Reader().connect(new URL(path, url)))
  )
  console.log(
    `${api.name}: ${app.mcpTools.length} tools. The list has ${list} tokens, that of a set with search ${search}`
  )
  for (const [name, job] of Object.entries<Job>(api.jobs)) {
    const [listed, found] = [await byList(new URL('/mcp', url), job), await bySearch(new URL('/search', url), job)]
    console.log(
      `  ${name}: ${listed.calls} calls and ${listed.context} tokens, ${listed.read} in all turns; with search ` +
        `${found.calls} calls and ${found.context} tokens, ${found.read} in all turns`
    )
  }
  await app.close()
}
