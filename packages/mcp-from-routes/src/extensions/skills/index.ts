import { check, isFile, pathOf } from '../../checks.ts'
import type { Extension } from '../../extension.ts'
import { resources } from '../resources/index.ts'
import { registryOf } from '../resources/registry.ts'
import { problemsOfCalls } from './check.ts'
import { serveSkills, shelfFrom } from './serve.ts'
import { checkSkills, formerCallsIn, inCurrentNames, readFolders, skillFrom, type McpSkill } from './skills.ts'

export type { McpSkill } from './skills.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The skills, sorted by their URIs and frozen. */
    readonly mcpSkills: readonly McpSkill[]
  }
}

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
    async install (core) {
      const { app, settings, isListing } = core
      const all = [folders].flat()
      check(
        all.length > 0 && all.every(isFile),
        'skills',
        'takes the path or the file: URL of a folder, or several'
      )
      let served = isListing ? [] : await readFolders(all.map(pathOf))
      let entries: readonly McpSkill[] = Object.freeze(served.map(skillFrom))
      app.decorate('mcpSkills', { getter: () => entries })
      registryOf(core).shelves.push(shelfFrom(() => served))
      return {
        async ready ({ tools, former, log }) {
          const calls = formerCallsIn(served, former)
          if (calls.length > 0) log.warn({ calls }, 'skills show calls of tools by former names')
          served = inCurrentNames(served, former)
          entries = Object.freeze(served.map(skillFrom))
          checkSkills(await problemsOfCalls(served, [...tools.values()].map((tool) => tool.public)))
        },
        serve: (server, message) => serveSkills(server, message, served, settings),
        contract: () => ({ skills: new Map(entries.map(({ uri, ...skill }) => [uri, skill])) })
      }
    }
  }
}
