import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }

/**
 * The version of the server, and of the contract that its tools are. It is the package's, which `changeset version`
 * raises by what the changesets say; `npm run check` sees to it that they say enough.
 */
export const VERSION = version

/**
 * What MCP clients are told: the version, and after a plus a digest of the stored tools. It changes whenever a tool does, also
 * between two releases, so that a client knows when to read the tools again.
 *
 * @see [SemVer 2.0.0 §10](https://semver.org/#spec-item-10)
 */
export const TOOLS_VERSION = versionOfTools()

function versionOfTools (): string {
  const stored = new URL('../../contract/tools.json', import.meta.url)
  // The command that writes the file starts the app to see its tools.
  if (!existsSync(stored)) return VERSION
  return `${VERSION}+${createHash('sha256').update(readFileSync(stored)).digest('hex').slice(0, 12)}`
}
