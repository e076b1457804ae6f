import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ListResourcesResult,
  type Server
} from '@modelcontextprotocol/server'
import { stopWithinMessage } from '../../call/stop.ts'
import { excerpt } from '../../call/excerpt.ts'
import { fromHost } from '../../endpoint/access.ts'
import type { Served } from '../../extension.ts'
import type { Settings } from '../../settings.ts'
import type { ReadResource } from './read.ts'
import type { Registry } from './registry.ts'
import { isTemplate, resourceAt, type FoundResource, type Resource } from './resources.ts'

/** What a server knows of its resources. */
interface Known {
  readonly all: readonly Resource[]
  readonly read: ReadResource
  readonly registry: Registry
  readonly settings: Settings
}

/**
 * Serves the resources that the client of a message may read, if the endpoint has any. There is one page of each list.
 */
export function serveResources (server: Server, message: Served, { all, read, registry, settings }: Known): void {
  const { era, outer, stop, endpoint, refuse } = message
  const callable = new Set(endpoint.callable())
  const resources = all.filter(({ tool }) => callable.has(tool))
  const shelves = registry.shelves.filter(({ isAt }) => isAt(message))
  if (resources.length === 0 && shelves.length === 0) return
  server.registerCapabilities({ resources: {} })
  const { accessOf, mayUse } = endpoint
  const hints = { ttlMs: settings.cacheTtl, cacheScope: settings.cacheScope }
  const hinted = <T extends object>(result: T, own = hints): T => era === 'modern' ? { ...result, ...own } : result

  async function listed (params: { readonly cursor?: string | undefined } | undefined, wanted: boolean) {
    if (params?.cursor !== undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor')
    const ofKind = resources.filter((resource) => isTemplate(resource) === wanted)
    const usable = await Promise.all(ofKind.map(({ tool }) => accessOf(tool, outer)))
    return ofKind.filter((_resource, index) => usable[index] === true).map(({ rule }) => rule.definition)
  }

  const found = async (uri: string): Promise<FoundResource | undefined> => {
    const resource = resourceAt(resources, uri)
    return resource !== undefined && await mayUse(resource.resource.tool, outer) ? resource : undefined
  }

  server.setRequestHandler('resources/list', async ({ params }) =>
    hinted({
      resources: await fromHost(
        outer,
        async () =>
          [
            ...await listed(params, false),
            ...(await Promise.all(shelves.map(async (shelf) => await shelf.listed(message)))).flat()
          ] as ListResourcesResult['resources']
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
        for (const shelf of shelves) {
          const file = await shelf.read(uri, message)
          if (file !== undefined) return hinted({ contents: [file] }) as never
        }
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
