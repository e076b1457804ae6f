import { check, isFile } from '../../checks.ts'
import type { Extension } from '../../extension.ts'
import { resources } from '../resources/index.ts'

export type { McpSkill } from './skills.ts'

/**
 * Serves skills (SEP-2640): texts that say how tools are used together, whose calls are checked at startup. Brings
 * `resources()` along, since files of skills are resources.
 *
 * @param folders - the folder of the skills, or several: each of their folders with a `SKILL.md` is one. A relative
 *   string is relative to the working directory
 * @returns for the option `extensions`
 */
export function skills (folders: string | URL | ReadonlyArray<string | URL>): Extension {
  return {
    name: 'mcp-from-routes/skills',
    keys: [],
    needs: [resources()],
    settings () {
      const all = [folders].flat()
      check(
        all.length > 0 && all.every(isFile),
        'skills',
        'takes the path or the file: URL of a folder, or several'
      )
      return { skills: all }
    }
  }
}
