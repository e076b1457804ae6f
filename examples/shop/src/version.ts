import { readFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

/**
 * The version of the server, and of the contract that its tools are. It is the package's, which `changeset version`
 * raises by what the changesets say; `npm run check` sees to it that they say enough.
 */
export const VERSION = version
