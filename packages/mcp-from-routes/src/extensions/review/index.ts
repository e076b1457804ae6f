import { check, isFile, pathOf } from '../../checks.ts'
import type { Extension } from '../../extension.ts'
import { claimFrom } from './file.ts'
import { readReviewed } from './reviewed.ts'

/** The command finds its file here. */
export interface ReviewExtension extends Extension {
  readonly file: string
}

/**
 * A review file decides which routes are tools and under which names, whatever their tags. Routes that the file does
 * not know are tools if they are tagged. `mcp-from-routes review` writes it.
 *
 * @param file - its path: `new URL('./mcp-routes.json', import.meta.url)`. A relative string is relative to the working
 *   directory
 * @returns for the option `extensions`
 */
export function review (file: string | URL): ReviewExtension {
  return {
    name: 'mcp-from-routes/review',
    keys: [],
    file: isFile(file) ? pathOf(file) : '',
    async install ({ extensions, isListing }) {
      check(isFile(file), 'review', 'takes the path or the file: URL of a review file')
      // The command reads the file itself.
      if (isListing) return {}
      const path = pathOf(file)
      const reviewed = await readReviewed(path, extensions)
      return {
        onRoute (_route, key) {
          const entry = reviewed.entryOf(key)
          return entry && { ...claimFrom(entry), from: `published by ${path}` }
        },
        listed: reviewed.check
      }
    }
  }
}
