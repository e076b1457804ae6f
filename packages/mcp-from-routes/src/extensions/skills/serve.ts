import { ProtocolError, ProtocolErrorCode, type Server, type StandardSchemaV1 } from '@modelcontextprotocol/server'
import { excerpt } from '../../call/excerpt.ts'
import { fromHost } from '../../endpoint/access.ts'
import type { Served } from '../../extension.ts'
import type { Endpoint } from '../../model.ts'
import { isObject } from '../../schema/json-schema.ts'
import type { Settings } from '../../settings.ts'
import type { Shelf } from '../resources/registry.ts'
import type { ServedSkill, SkillFile } from './skills.ts'

/** The extension, as capabilities name it. */
const SKILLS_EXTENSION = 'io.modelcontextprotocol/skills'

/** The skills of an endpoint: those whose calls are all of its tools. */
function skillsAt (skills: readonly ServedSkill[], { tools }: Endpoint): readonly ServedSkill[] {
  return skills.filter(({ calls }) => calls.every(({ name }) => tools().has(name)))
}

/** The skills of an endpoint as one client sees them. */
interface SkillShelf {
  /** Those whose calls it can all make. */
  readonly listed: () => Promise<readonly ServedSkill[]>
  /** A file of a skill that is not hidden from it. */
  readonly file: (uri: string) => Promise<SkillFile | undefined>
  /** A skill that is not hidden from it, by the URI of its SKILL.md. */
  readonly skill: (uri: string) => Promise<ServedSkill | undefined>
}

/** A skill shows what its tools are called and take, so a client for which a tool is hidden does not see it either. */
function shelfOf (all: readonly ServedSkill[], { outer, endpoint }: Served): SkillShelf {
  const { accessOf, mayUse, tools: held } = endpoint
  const skills = skillsAt(all, endpoint)
  async function answersOf ({ calls }: ServedSkill, ask: Endpoint['accessOf']): Promise<readonly unknown[]> {
    const tools = [...new Set(calls.map(({ name }) => name))].flatMap((name) => held().get(name) ?? [])
    return await Promise.all(tools.map((tool) => ask(tool, outer)))
  }
  const first = async (candidates: readonly ServedSkill[]): Promise<ServedSkill | undefined> => {
    for (const skill of candidates) if ((await answersOf(skill, mayUse)).every((may) => may === true)) return skill
    return undefined
  }
  return {
    async listed () {
      const answers = await Promise.all(skills.map((skill) => answersOf(skill, accessOf)))
      return skills.filter((_skill, index) => answers[index]?.every((answer) => answer === true))
    },
    // A nested skill's file is one of the skill around it too.
    file: async (uri) => (await first(skills.filter(({ files }) => files.has(uri))))?.files.get(uri),
    skill: async (uri) => await first(skills.filter(({ entry }) => entry.uri === uri))
  }
}

/** The files of skills, as resources. */
export function shelfFrom (skills: () => readonly ServedSkill[]): Shelf {
  return {
    isAt: ({ endpoint }) => skillsAt(skills(), endpoint).length > 0,
    listed: async (message) =>
      (await shelfOf(skills(), message).listed()).map(({ entry: { uri, frontmatter: { name, description } } }) => ({
        uri,
        name,
        description,
        mimeType: 'text/markdown'
      })),
    read: async (uri, message) => await shelfOf(skills(), message).file(uri)
  }
}

/** Serves the methods of the extension. There is one page of the list. */
export function serveSkills (
  server: Server,
  message: Served,
  skills: readonly ServedSkill[],
  { cacheTtl, cacheScope }: Settings
): void {
  const { era, outer, endpoint } = message
  if (skillsAt(skills, endpoint).length === 0) return
  server.registerCapabilities({ extensions: { [SKILLS_EXTENSION]: {} } })
  const shelf = shelfOf(skills, message)
  const hints = era === 'modern' ? { ttlMs: cacheTtl, cacheScope, resultType: 'complete' } : {}
  server.setRequestHandler('skills/list', { params: CURSOR }, async ({ cursor }) =>
    await fromHost(outer, async () => {
      if (cursor !== undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor')
      return { skills: (await shelf.listed()).map(({ entry }) => entry), ...hints }
    }))
  server.setRequestHandler('skills/get', { params: URI }, async ({ uri }) =>
    await fromHost(outer, async () => {
      const skill = await shelf.skill(uri)
      if (skill === undefined) {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No skill is served at ${excerpt(uri)}`)
      }
      return { skill: skill.entry, ...hints }
    }))
}

const CURSOR = paramsWith<{ readonly cursor?: string }>(
  'cursor',
  (value) => value === undefined || typeof value === 'string'
)
const URI = paramsWith<{ readonly uri: string }>('uri', (value) => typeof value === 'string')

function paramsWith<T> (name: string, holds: (value: unknown) => boolean): StandardSchemaV1<unknown, T> {
  return {
    '~standard': {
      version: 1,
      vendor: 'mcp-from-routes',
      validate: (value) =>
        (value === undefined || isObject(value)) && holds(value?.[name])
          ? { value: { [name]: value?.[name] } as T }
          : { issues: [{ message: `${name} must be a string`, path: [name] }] }
    }
  }
}
