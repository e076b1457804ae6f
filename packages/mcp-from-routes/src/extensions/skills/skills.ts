import { isUtf8 } from 'node:buffer'
import { extname, join } from 'node:path'
import type { Skill } from '@modelcontextprotocol/server/ext/skills'
import { isTextual } from '../../call/result.ts'
import { MCP_FROM_ROUTES_INVALID_SKILLS } from '../../errors.ts'
import type { Tool } from '../../model.ts'
import { textFromProblems } from '../problems.ts'
import { callsIn, type ShownCall } from './calls.ts'

/** A file of a skill, as `resources/read` returns it. */
export type SkillFile =
  & { readonly uri: string, readonly mimeType: string }
  & ({ readonly text: string } | { readonly blob: string })

/** A skill, read once: the digests of its entry are those of the bytes that are served. */
export interface ServedSkill {
  /** What `skills/list` and `skills/get` say of it. */
  readonly entry: Skill
  /** By their URIs. */
  readonly files: ReadonlyMap<string, SkillFile>
  /** The calls that it shows. */
  readonly calls: readonly ShownCall[]
}

const SCHEME = 'skill://'
const MIME_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.csv': 'text/csv',
  '.gif': 'image/gif',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.webp': 'image/webp',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml'
}

/**
 * Reads the skills of several folders, sorted by their URIs.
 * @throws {@link MCP_FROM_ROUTES_INVALID_SKILLS} with everything that is wrong with one of them
 */
export async function readFolders (folders: readonly string[]): Promise<readonly ServedSkill[]> {
  const skills: ServedSkill[] = []
  for (const folder of folders) {
    const more = await readSkills(folder)
    checkSkills(
      more.filter(({ entry }) => skills.some((other) => other.entry.uri === entry.uri)).map(({ entry: { uri } }) =>
        `${folder}: ${uri} is in another folder too`
      )
    )
    skills.push(...more)
  }
  return skills.sort((a, b) => a.entry.uri < b.entry.uri ? -1 : 1)
}

/**
 * Reads the folder of the skills. The SDK knows the rules of the format and the limits of the extension, and follows no
 * link.
 * @throws {@link MCP_FROM_ROUTES_INVALID_SKILLS} with everything that is wrong
 */
export async function readSkills (folder: string): Promise<readonly ServedSkill[]> {
  // Not loaded where nobody has skills.
  const [{ SkillCatalog, SkillCatalogError }, { nodeSkillFiles }] = await Promise.all([
    import('@modelcontextprotocol/server/ext/skills'),
    import('@modelcontextprotocol/server/ext/skills/node')
  ])
  const disk = nodeSkillFiles(folder)
  const bytesOf = new Map<string, Buffer>()
  const kept = {
    list: async (path: string) => await disk.list(path),
    async read (path: string) {
      const bytes = bytesOf.get(path) ?? Buffer.from(await disk.read(path))
      bytesOf.set(path, bytes)
      return bytes
    }
  }
  const refused: string[] = []
  try {
    const { entries } = await SkillCatalog.load(kept, {
      strict: true,
      onWarning: ({ path, message }) => {
        refused.push(`${join(folder, path)}: ${message}`)
      }
    })
    checkSkills(refused)
    return entries.map((entry) => {
      const paths = filesOf(entry)
      return {
        entry,
        files: new Map(paths.map(([uri, path]) => [uri, fileFrom(uri, bytesOf.get(path) as Buffer)])),
        calls: paths.filter(([, path]) => /\.md$/i.test(path)).flatMap(([, path]) =>
          callsIn(String(bytesOf.get(path)), join(folder, path))
        )
      }
    })
  } catch (error) {
    if (!(error instanceof SkillCatalogError)) throw error
    throw new MCP_FROM_ROUTES_INVALID_SKILLS(
      textFromProblems([...refused, ...error.problems.map(({ path, message }) => `${join(folder, path)}: ${message}`)])
    )
  }
}

/** @throws {@link MCP_FROM_ROUTES_INVALID_SKILLS} if there are any problems */
export function checkSkills (problems: readonly string[]): void {
  if (problems.length > 0) throw new MCP_FROM_ROUTES_INVALID_SKILLS(textFromProblems(problems))
}

/** The URI of each file, with its path in the folder. */
function filesOf ({ resources }: Skill): ReadonlyArray<readonly [uri: string, path: string]> {
  return resources === 'dynamic'
    ? []
    : resources.map(({ uri }) => [uri, uri.slice(SCHEME.length).split('/').map(decodeURIComponent).join('/')])
}

function fileFrom (uri: string, bytes: Buffer): SkillFile {
  const known = MIME_TYPES[extname(uri).toLowerCase()]
  const isText = isUtf8(bytes) && isTextual(known ?? '')
  const mimeType = known ?? (isText ? 'text/plain' : 'application/octet-stream')
  return { uri, mimeType, ...isText ? { text: String(bytes) } : { blob: bytes.toString('base64') } }
}

/** The calls by former names of tools, each with its place and what the tool is called now. */
export function formerCallsIn (skills: readonly ServedSkill[], former: ReadonlyMap<string, Tool>): readonly string[] {
  const calls = skills.flatMap(({ calls }) => calls).filter(({ name }) => former.has(name))
  return [...new Set(calls.map(({ name, at }) => `${at('name')}: ${name} is now ${former.get(name)?.public.name}`))]
}

/** The skills, whose calls name their tools as these are called now. Their texts stay. */
export function inCurrentNames (
  skills: readonly ServedSkill[],
  former: ReadonlyMap<string, Tool>
): readonly ServedSkill[] {
  return skills.map((skill) => ({
    ...skill,
    calls: skill.calls.map((call) => ({ ...call, name: former.get(call.name)?.public.name ?? call.name }))
  }))
}

/** A skill, in `app.mcpSkills`. */
export interface McpSkill {
  /** Of its SKILL.md: `skill://change-prices/SKILL.md`. */
  readonly uri: string
  readonly name: string
  readonly description: string
  /** The paths of its files, in its folder. */
  readonly files: readonly string[]
  /** The tools whose calls it shows. */
  readonly calls: readonly string[]
}

export function skillFrom (
  { entry: { uri, frontmatter: { name, description } }, files, calls }: ServedSkill
): McpSkill {
  const folder = uri.slice(0, -'SKILL.md'.length)
  return Object.freeze({
    uri,
    name,
    description,
    files: [...files.keys()].map((file) => decodeURIComponent(file.slice(folder.length))),
    calls: [...new Set(calls.map((call) => call.name))].sort()
  })
}
