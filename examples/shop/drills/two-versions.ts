import { execFile } from 'node:child_process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { run } from '../src/commands/run.ts'
import { connect, rowsOf } from '../test/mcp-clients.ts'
import { startPostgres } from '../test/postgres.ts'
import { folderFor, type Scope } from '../../../test/scope.ts'
import { toolNames } from '../test/tool-names.ts'
import type { Drill, Outcome } from './drill.ts'
import { exercise, type Exercise, withoutServers } from './exercise.ts'

const execute = promisify(execFile)

const TOOLS = 'Each of the 20 tools works at both versions, on records of the other'

/** The shop as it is, and the repository. */
const HEAD = new URL('../', import.meta.url)
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Where the version of a release stands. */
const VERSIONED = 'packages/mcp-from-routes/package.json'

/**
 * @returns the commit of a name, or of the last release: that of its tag, else the one that changed the version last;
 * undefined if there is none
 */
async function commitOf (name: string | undefined): Promise<string | undefined> {
  const git = async (...args: readonly string[]): Promise<string> =>
    (await execute('git', args, { cwd: ROOT })).stdout.trim()
  const tagged = async (): Promise<string> => await git('describe', '--tags', '--abbrev=0').catch(() => '')
  const released = async (): Promise<string> =>
    await git('log', '-1', '--format=%H', '-G^  "version":', '--', VERSIONED)
  const found = name ?? (await tagged() || await released())
  return found === '' ? undefined : await git('rev-parse', '--verify', '--end-of-options', `${found}^{commit}`)
}

/** @returns the folder of the shop at a commit, installed and built */
async function build (t: Scope, commit: string): Promise<URL> {
  const folder = folderFor(t, 'version')
  await execute('sh', ['-c', 'git archive "$1" | tar -x -C "$2"', 'sh', commit, folder], { cwd: ROOT })
  // Without what `npm run` tells the programs that it runs, such as the workspace.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')))
  await execute('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: folder, env, maxBuffer: 1e8 })
  return pathToFileURL(`${folder}/examples/shop/`)
}

/** Uses all tools, each record at both replicas in turn. @returns the names of those that worked */
async function useTools (t: Scope, { shop, headers }: Exercise, urls: readonly string[]): Promise<ReadonlySet<string>> {
  const worked = new Set<string>()
  const agents = await Promise.all(urls.map(async (url) => await connect(t, 'SDK 2.x, auto', `${url}/mcp`, headers)))
  for (const [maker, other] of [agents, agents.toReversed()]) {
    for (
      const [kind, kinds] of [
        ['product', 'products'],
        ['category', 'categories'],
        ['tag', 'tags'],
        ['attribute', 'attributes']
      ] as const
    ) {
      const use = async (agent: typeof maker, name: string, args: object) => {
        const answer = await agent!.callTool({ name, arguments: { shop_id: shop, ...args } })
        if (answer.isError) throw new Error(`${name}: ${answer.content[0]?.text}`)
        worked.add(name)
        return answer
      }
      const made = { name: `${kind} of a drill`, ...kind === 'attribute' && { type: 'text' } }
      const { id } = (await use(maker, `create_${kind}`, made)).structuredContent
      const record = { [`${kind}_id`]: id }
      const isThere = async (agent: typeof maker, name: string): Promise<void> => {
        const read = (await use(agent, `get_${kind}`, record)).structuredContent
        const listed = rowsOf(await use(agent, `list_${kinds}`, { limit: 100, sort: '-created_at' })).find((row) =>
          row.id === id
        )
        if (read.name !== name || listed?.name !== name) {
          throw new Error(`${kind}: ${read.name} and ${listed?.name} in place of ${name}`)
        }
      }
      await isThere(other, made.name)
      await use(other, `update_${kind}`, { ...record, name: 'changed' })
      await isThere(maker, 'changed')
      await use(other, `delete_${kind}`, record)
      const gone = await maker!.callTool({ name: `get_${kind}`, arguments: { shop_id: shop, ...record } })
      if (!gone.isError) throw new Error(`${kind} is not gone`)
    }
  }
  return worked
}

export const twoVersions: Drill = {
  name: 'two-versions',
  title: 'Two versions are alive',
  done: 'Two replicas of the last release, or of `--previous`, run. This version migrates and replaces one of them; ' +
    'later the old version does.',
  may: { statuses: [], pause: 2, recovers: 1 },
  holds: [TOOLS],
  without: () => withoutServers,
  async run (t, { previous }): Promise<Outcome> {
    const commit = await commitOf(previous)
    if (commit === undefined) return { notRun: 'there is no release yet; name a version by `--previous`' }
    const folder = await build(t, commit)
    const { url } = await startPostgres(t)
    const at = await exercise(t, { url, folder })
    const { code, stderr } = await run(['migrate'], { DATABASE_URL: url })
    if (code !== 0) throw new Error(stderr)
    await at.serve()
    const [old, second] = at.replicas
    await at.stop(second!, 'SIGTERM')
    const head = await at.replace(second!, {}, HEAD)
    await at.serve()
    const worked = await useTools(t, at, [old!.baseUrl, head.baseUrl])
    at.hold(TOOLS, toolNames.every((name) => worked.has(name)))
    await at.stop(head, 'SIGTERM')
    await at.replace(head)
    at.mended()
    await at.untilReplicas('ready')
    await at.serve()
    return { ...await at.end(), remark: `beside ${commit.slice(0, 7)}` }
  }
}
