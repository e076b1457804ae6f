import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { RouteOptions } from 'fastify'
import { MCP_FROM_ROUTES_INVALID_REVIEW } from '../../errors.ts'
import { checkReview, entriesFromText, type ReviewEntry } from './file.ts'

/** What the file of the option `routes` says. */
export interface Reviewed {
  readonly file: string
  readonly entryOf: (key: string) => ReviewEntry | undefined
  /**
   * Checks that every route that is to be published exists.
   * @throws {@link MCP_FROM_ROUTES_INVALID_REVIEW}
   */
  readonly check: (keys: readonly string[]) => void
}

/** Without the option. */
export const NOT_REVIEWED: Reviewed = { file: '', entryOf: () => undefined, check: () => {} }

/**
 * How a review file calls a route: `GET /users/:id`, with its constraints where it has any. Empty for HEAD and OPTIONS.
 */
export function keyOf ({ method, url, constraints }: Pick<RouteOptions, 'method' | 'url' | 'constraints'>): string {
  const methods = [method].flat().filter((name) => name !== 'HEAD' && name !== 'OPTIONS')
  const limits = Object.entries(constraints ?? {}).map(([name, value]) => ` ${name}=${String(value)}`).sort()
  return methods.length === 0 ? '' : `${methods.join(',')} ${url}${limits.join('')}`
}

/** @throws {@link MCP_FROM_ROUTES_INVALID_REVIEW} */
export async function readReviewed (routes: string | URL): Promise<Reviewed> {
  const file = pathOf(routes)
  const entries = entriesFromText(await textOf(file), file)
  const byKey = new Map(entries.map((entry) => [entry.route, entry]))
  return {
    file,
    entryOf: (key) => byKey.get(key),
    check (keys) {
      const known = new Set(keys)
      checkReview(
        entries.flatMap(({ route, publish }, index) =>
          publish && !known.has(route) ? [`routes[${index}] (${route}) ${absence(route, keys)}`] : []
        ),
        file
      )
    }
  }
}

/** The path of the file of the option. */
export function pathOf (routes: string | URL): string {
  return typeof routes === 'string' ? routes : fileURLToPath(routes)
}

/** Why a route cannot be found. */
export function absence (route: string, keys: readonly string[]): string {
  const shape = (key: string): string =>
    key.replace(/^\S+ /, '').replace(/ .*/, '').replace(/:[^/]+/g, ':').replace(/\/$/, '').toLowerCase()
  const similar = keys.filter((key) => shape(key) === shape(route))
  return `is published, but the app has no such route${similar.length === 0 ? '' : `. It has ${similar.join(', ')}`}`
}

async function textOf (file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new MCP_FROM_ROUTES_INVALID_REVIEW(
      file,
      ` ${(error as Error).message}. Write it with: npx mcp-from-routes review <module of the app>`
    )
  }
}
