import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
  type StandardSchemaV1
} from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'
import type { ToolResult } from '../../call/result.ts'
import { stopWithinMessage, type Stop } from '../../call/stop.ts'
import { excerpt } from '../../call/excerpt.ts'
import { fromHost, type Access } from '../../endpoint/access.ts'
import { isTemplate, resourceAt, type FoundResource } from './resources.ts'
import type { Era } from '../../types.ts'
import type { ServedSkill, SkillFile } from '../skills/skills.ts'
import { isObject } from '../../schema/json-schema.ts'

/** A message about resources. */
interface ResourceMessage {
  readonly era: Era
  readonly outer: FastifyRequest
  readonly stop: Stop
  readonly refuse: (result: ToolResult) => void
}

/** Serves the resources and skills that the client of a message may read. There is one page of each list. */
export function serveResources (server: Server, access: Access, { era, outer, stop, refuse }: ResourceMessage): void {
  const { resources, accessOf, mayUse, read, settings: { cacheTtl, cacheScope } } = access
  const shelf = shelfOf(access, outer)
  if (access.skills().length > 0) serveSkills(server, access, shelf, era, outer)
  const hints = { ttlMs: cacheTtl, cacheScope }
  const hinted = <T extends object>(result: T, own = hints): T => era === 'modern' ? { ...result, ...own } : result

  async function listed (params: { readonly cursor?: string | undefined } | undefined, wanted: boolean) {
    if (params?.cursor !== undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor')
    const all = resources().filter((resource) => isTemplate(resource) === wanted)
    const usable = await Promise.all(all.map((resource) => accessOf(resource, outer)))
    return all.filter((_resource, index) => usable[index] === true).map(({ resource }) => resource.definition)
  }

  const found = async (uri: string): Promise<FoundResource | undefined> => {
    const resource = resourceAt(resources(), uri)
    return resource !== undefined && await mayUse(resource.resource, outer) ? resource : undefined
  }

  server.setRequestHandler('resources/list', async ({ params }) =>
    hinted({
      resources: await fromHost(
        outer,
        async () => [
          ...await listed(params, false),
          ...(await shelf.listed()).map(({ entry: { uri, frontmatter: { name, description } } }) => ({
            uri,
            name,
            description,
            mimeType: 'text/markdown'
          }))
        ]
      )
    }))
  server.setRequestHandler(
    'resources/templates/list',
    async ({ params }) =>
      hinted({
        resourceTemplates: (await fromHost(outer, () => listed(params, true))).map(({ uri, ...definition }) => ({
          uriTemplate: uri,
          ...definition
        }))
      })
  )
  server.setRequestHandler(
    'resources/read',
    async ({ params: { uri, _meta: meta } }) =>
      await fromHost(outer, async () => {
        const file = await shelf.file(uri)
        if (file !== undefined) return hinted({ contents: [file] })
        const resource = await found(uri)
        // A hidden one is as one that does not exist.
        if (resource === undefined) throw new ResourceNotFoundError(uri, `Resource not found: ${excerpt(uri)}`)
        const { contents, ...own } = await read({
          ...resource,
          uri,
          outer,
          meta,
          refuse,
          stop: stopWithinMessage(stop, era, false)
        })
        return hinted({ contents: [...contents] }, own)
      })
  )
}

/** The extension, as capabilities name it. */
export const SKILLS_EXTENSION = 'io.modelcontextprotocol/skills'

/** The skills as one client sees them. */
interface SkillShelf {
  /** Those whose calls it can all make. */
  readonly listed: () => Promise<readonly ServedSkill[]>
  /** A file of a skill that is not hidden from it. */
  readonly file: (uri: string) => Promise<SkillFile | undefined>
  /** A skill that is not hidden from it, by the URI of its SKILL.md. */
  readonly skill: (uri: string) => Promise<ServedSkill | undefined>
}

/** A skill shows what its tools are called and take, so a client for which a tool is hidden does not see it either. */
function shelfOf (
  { skills, accessOf, mayUse, toolNamed }: Pick<Access, 'skills' | 'accessOf' | 'mayUse' | 'toolNamed'>,
  outer: FastifyRequest
): SkillShelf {
  async function answersOf ({ calls }: ServedSkill, ask: Access['accessOf']): Promise<readonly unknown[]> {
    const tools = [...new Set(calls.map(({ name }) => name))].flatMap((name) => toolNamed(name) ?? [])
    return await Promise.all(tools.map((tool) => ask(tool, outer)))
  }
  const first = async (candidates: readonly ServedSkill[]): Promise<ServedSkill | undefined> => {
    for (const skill of candidates) if ((await answersOf(skill, mayUse)).every((may) => may === true)) return skill
    return undefined
  }
  return {
    async listed () {
      const answers = await Promise.all(skills().map((skill) => answersOf(skill, accessOf)))
      return skills().filter((_skill, index) => answers[index]?.every((answer) => answer === true))
    },
    // A nested skill's file is one of the skill around it too.
    file: async (uri) => (await first(skills().filter(({ files }) => files.has(uri))))?.files.get(uri),
    skill: async (uri) => await first(skills().filter(({ entry }) => entry.uri === uri))
  }
}

/** Serves the methods of the extension. There is one page of the list. */
function serveSkills (
  server: Server,
  { settings: { cacheTtl, cacheScope } }: Access,
  shelf: SkillShelf,
  era: Era,
  outer: FastifyRequest
): void {
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
