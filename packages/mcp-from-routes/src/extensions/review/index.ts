import { check, isFile } from '../../checks.ts'
import type { Extension } from '../../extension.ts'

/**
 * A review file decides which routes are tools and under which names, whatever their tags. Routes that the file does
 * not know are tools if they are tagged. `mcp-from-routes review` writes it.
 *
 * @param file - its path: `new URL('./mcp-routes.json', import.meta.url)`. A relative string is relative to the working
 *   directory
 * @returns for the option `extensions`
 */
export function review (file: string | URL): Extension {
  return {
    name: 'mcp-from-routes/review',
    keys: [],
    settings () {
      check(isFile(file), 'review', 'takes the path or the file: URL of a review file')
      return { routes: file }
    }
  }
}
