import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/**
 * The version of the server and of its tools. `changeset version` bumps it in package.json as the changesets say;
 * `npm run check` verifies that they say enough.
 */
export const VERSION = version

/**
 * The version for MCP clients: after a plus it has a digest of the stored tools. It changes whenever a tool does, also
 * between two releases, so that clients know when to read the tools again.
 *
 * @see [SemVer 2.0.0 §10](https://semver.org/#spec-item-10)
 */
export const TOOLS_VERSION = versionOfTools()

function versionOfTools (): string {
  const stored = new URL('../../contract/tools.json', import.meta.url)
  // The command that writes the file starts the app before it exists.
  if (!existsSync(stored)) return VERSION
  return `${VERSION}+${createHash('sha256').update(readFileSync(stored)).digest('hex').slice(0, 12)}`
}
