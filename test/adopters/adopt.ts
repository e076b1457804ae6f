import { strict as assert } from 'node:assert'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { run, serve } from '../../examples/quickstart/release/command.ts'
import type { Adopter } from './apps.ts'

/** What is done with an application, in this order. */
export const STEPS = [
  'its tests before',
  'install',
  'its tests after',
  'types',
  'sign-in',
  'bad key',
  'SDK 1.x',
  'SDK 2.x'
] as const
export type Step = typeof STEPS[number]

/** How far an application came. */
export interface Outcome {
  /** The version of Fastify that it runs on. */
  readonly fastify: string
  readonly done: readonly Step[]
  /** What went wrong with the step after those. */
  readonly problem?: string
}

/** Where applications are tried. */
interface Place {
  /** Empty, outside of the repository, so that nothing is found there that was not installed. */
  readonly directory: string
  /** The packed packages, by their names. */
  readonly tarballs: ReadonlyMap<string, string>
}

const INSTALL = ['install', '--no-audit', '--no-fund', '--loglevel=error', '--save-exact']

/** Makes a copy of an application, and takes the packages there as its team would. */
export async function adopt (adopter: Adopter, { directory, tarballs }: Place): Promise<Outcome> {
  const { name, more = [], changes, token } = adopter
  const source = fileURLToPath(new URL(`${name}/`, import.meta.url))
  const cwd = join(directory, name)
  const done: Step[] = []
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  let fastify = ''
  const step = async (name: Step, work: () => Promise<unknown>): Promise<void> => {
    await work()
    done.push(name)
  }
  try {
    await reach(adopter)
    cpSync(source, cwd, {
      recursive: true,
      filter: (path) => !path.startsWith(join(source, 'adopted')) && !path.includes('node_modules')
    })
    await run('npm', INSTALL, { cwd })
    fastify = fastifyOf(cwd, manifest)
    await step('its tests before', () => run('npm', ['test'], { cwd }))

    await step(
      'install',
      () => run('npm', [...INSTALL, ...adopter.packages.map((one) => tarballs.get(one)!), ...more], { cwd })
    )
    fastify = fastifyOf(cwd, manifest)
    cpSync(join(source, 'adopted'), cwd, { recursive: true })
    for (const { file, from, to } of changes) {
      const text = readFileSync(join(cwd, file), 'utf8')
      assert.equal(text.split(from).length, 2, `${file} must hold once: ${from}`)
      writeFileSync(join(cwd, file), text.replace(from, () => to))
    }
    await step('its tests after', () => run('npm', ['test'], { cwd }))
    await step('types', async () => {
      if (manifest.scripts.types !== undefined) await run('npm', ['run', 'types'], { cwd })
    })

    // Without npm in between, which would not pass a signal on.
    const server = await serve(
      'sh',
      ['-c', `exec env ${manifest.scripts.start}`],
      { cwd, env: { PORT: '0' } },
      /listening at (http:\/\/\S+)/
    )
    try {
      const { origin } = server
      let key = ''
      await step('sign-in', async () => {
        key = await keyOf(origin, await signIn(origin, 'ada', token === true))
      })
      await step('bad key', async () => {
        for (
          const [path, given] of [['/notes', { authorization: `Bearer ${key}x` }], ['/mcp', {
            authorization: `Bearer ${key}x`
          }], ['/mcp', {}]] as const
        ) {
          assert.equal(
            (await fetch(origin + path, { method: path === '/mcp' ? 'POST' : 'GET', headers: given })).status,
            401,
            `${path} with ${JSON.stringify(given)}`
          )
        }
      })
      const requestInit = { headers: { authorization: `Bearer ${key}` } }
      await step('SDK 1.x', async () => {
        const client = new Client1({ name: 'adopters', version: '1.0.0' })
        await client.connect(new Transport1(new URL(`${origin}/mcp`), { requestInit }) as never)
        await useTools(client as never, 1)
      })
      await step('SDK 2.x', async () => {
        const client = new Client2({ name: 'adopters', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
        await client.connect(new Transport2(new URL(`${origin}/mcp`), { requestInit }))
        await useTools(client as never, 2)
      })
    } finally {
      await server.stop()
    }
    return { fastify, done }
  } catch (error) {
    return { fastify, done, problem: `${STEPS[done.length]}: ${(error as Error).message}` }
  }
}

/** What both versions of the SDK have. */
interface AnyClient {
  listTools(): Promise<{ readonly tools: ReadonlyArray<{ readonly name: string }> }>
  callTool(
    call: { readonly name: string, readonly arguments: object }
  ): Promise<
    { readonly isError?: boolean, readonly structuredContent?: Record<string, unknown>, readonly content: unknown }
  >
  close(): Promise<void>
}

/** Writes a note and reads it back, as the person whose key it is. @param count - of notes, with this one */
async function useTools (client: AnyClient, count: number): Promise<void> {
  const { tools } = await client.listTools()
  assert.deepEqual(tools.map(({ name }) => name).toSorted(), ['create_note', 'list_notes'])
  const text = `Note ${count}`
  const created = await client.callTool({ name: 'create_note', arguments: { text } })
  assert.ok(!created.isError && JSON.stringify(created.content).includes(text), JSON.stringify(created))
  const listed = await client.callTool({ name: 'list_notes', arguments: {} })
  const notes = JSON.parse((listed.content as ReadonlyArray<{ readonly text: string }>)[0]!.text)
  assert.equal((Array.isArray(notes) ? notes : notes.result).length, count, JSON.stringify(listed))
  const refused = await client.callTool({ name: 'create_note', arguments: { text: '' } })
  assert.equal(refused.isError, true, JSON.stringify(refused))
  await client.close()
}

/** @returns the headers of a person who has signed in as the application wants it */
async function signIn (origin: string, name: string, token: boolean): Promise<Record<string, string>> {
  const response = await fetch(`${origin}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, password: 'enchantress' })
  })
  assert.ok(response.ok, `${response.status} ${await response.clone().text()}`)
  const headers = token
    ? { authorization: `Bearer ${(await response.json() as { token: string }).token}` }
    : { cookie: response.headers.getSetCookie().map((cookie) => cookie.split(';')[0]).join('; ') }
  const own = await fetch(`${origin}/notes`, { headers: headers as Record<string, string> })
  assert.deepEqual(
    [own.status, (await fetch(`${origin}/notes`)).status],
    [200, 401],
    'people see their notes as before, and nobody else does'
  )
  return headers as Record<string, string>
}

/** @returns a key that the person has made */
async function keyOf (origin: string, headers: Record<string, string>): Promise<string> {
  const make = async (person: string) =>
    await fetch(`${origin}/people/${person}/api-keys/`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({
        name: 'Agent',
        scopes: ['read', 'write'],
        expires_at: new Date(Date.now() + 3_600_000).toISOString()
      })
    })
  const made = await make('ada')
  assert.equal(made.status, 201, await made.clone().text())
  assert.ok([401, 403, 404].includes((await make('kim')).status), 'nobody makes keys of others')
  return (await made.json() as { plaintext: string }).plaintext
}

/** @throws if the server that the application needs is not there */
async function reach ({ server }: Adopter): Promise<void> {
  if (server === undefined) return
  const { hostname, port } = new URL(process.env[server.variable] ?? server.address)
  await new Promise<void>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.end()
      resolve()
    })
    socket.once(
      'error',
      () =>
        reject(
          new Error(
            `it needs ${server.what}, and nobody listens at ${hostname}:${port}: set ${server.variable}, such ` +
              `as ${server.address}`
          )
        )
    )
  })
}

/** The version of the Fastify that an application runs on. */
function fastifyOf (cwd: string, { dependencies }: { readonly dependencies: object }): string {
  const user = 'fastify' in dependencies ? cwd : join(cwd, 'node_modules/@nestjs/platform-fastify')
  return createRequire(join(user, 'index.js'))('fastify/package.json').version
}
