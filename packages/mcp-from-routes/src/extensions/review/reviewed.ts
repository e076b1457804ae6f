import { readFile } from 'node:fs/promises'
import type { Extension } from '../../extension.ts'
import { MCP_FROM_ROUTES_INVALID_REVIEW } from '../../errors.ts'
import { checkReview, entriesFromText, type ReviewEntry } from './file.ts'

/** What a review file says. */
export interface Reviewed {
  readonly file: string
  readonly entryOf: (key: string) => ReviewEntry | undefined
  /**
   * Checks that every route that is to be published exists.
   * @throws {@link MCP_FROM_ROUTES_INVALID_REVIEW}
   */
  readonly check: (keys: readonly string[]) => void
}

/** @throws {@link MCP_FROM_ROUTES_INVALID_REVIEW} */
export async function readReviewed (file: string, extensions: readonly Extension[]): Promise<Reviewed> {
  const entries = entriesFromText(await textOf(file), file, extensions)
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
