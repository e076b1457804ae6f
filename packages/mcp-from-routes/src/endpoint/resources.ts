import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, type Server } from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'
import type { ToolResult } from '../call/result.ts'
import { stopWithinMessage, type Stop } from '../call/stop.ts'
import { excerpt } from '../call/excerpt.ts'
import { fromHost } from './from-host.ts'
import { isTemplate, resourceAt, type FoundResource } from '../resource/resources.ts'
import type { Era } from '../types.ts'
import type { Access } from './access.ts'
import { serveSkills, shelfOf } from './skills.ts'

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

  server.setRequestHandler('resources/list', async ({ params }) => hinted({
    resources: await fromHost(outer, async () => [...await listed(params, false), ...(await shelf.listed()).map(({ entry: { uri, frontmatter: { name, description } } }) => ({ uri, name, description, mimeType: 'text/markdown' }))])
  }))
  server.setRequestHandler('resources/templates/list', async ({ params }) => hinted({ resourceTemplates: (await fromHost(outer, () => listed(params, true))).map(({ uri, ...definition }) => ({ uriTemplate: uri, ...definition })) }))
  server.setRequestHandler('resources/read', async ({ params: { uri, _meta: meta } }) => await fromHost(outer, async () => {
    const file = await shelf.file(uri)
    if (file !== undefined) return hinted({ contents: [file] })
    const resource = await found(uri)
    // A hidden one is as one that does not exist.
    if (resource === undefined) throw new ResourceNotFoundError(uri, `Resource not found: ${excerpt(uri)}`)
    const { contents, ...own } = await read({ ...resource, uri, outer, meta, refuse, stop: stopWithinMessage(stop, era, false) })
    return hinted({ contents: [...contents] }, own)
  }))
}
