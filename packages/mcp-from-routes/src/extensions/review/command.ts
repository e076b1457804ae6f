import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { entriesFromText, textFromEntries, type ReviewEntry } from './file.ts'
import type { ReviewExtension } from './index.ts'
import { reviewOf, type ReviewResult } from './review.ts'
import type { Answer, Surroundings, ReviewCommand } from '../../cli/arguments.ts'
import { listingFromModule } from '../../cli/app.ts'

/** Brings the review file of an app up to date, or checks that it is. */
export async function review (command: ReviewCommand, { cwd }: Pick<Surroundings, 'cwd'>): Promise<Answer> {
  return await listingFromModule(command.module, cwd, async (message) => {
    const own = message.extensions.find((one): one is ReviewExtension => one.name === 'mcp-from-routes/review')?.file
    const file = resolve(cwd, command.routes ?? own ?? 'mcp-routes.json')
    const shown = relative(cwd, file)
    const before = await readFile(file, 'utf8').catch(ifMissing)
    const { entries: found, added, gone, undescribed } = reviewOf(
      message,
      before === undefined ? [] : entriesFromText(before, shown, message.extensions)
    )
    const useless = command.publish.find((pattern) => !found.some((entry) => matches(pattern, entry)))
    if (useless !== undefined) {
      return {
        code: 1,
        out: '',
        err: `--publish ${JSON.stringify(useless)} matches no route that can be a tool. Write it as the file does: ` +
          'GET /users/:id, with * for anything\n'
      }
    }
    const entries = found.map((entry) =>
      command.publish.some((pattern) => matches(pattern, entry)) ? { ...entry, publish: true } : entry
    )
    // The same check as at startup.
    const text = textFromEntries(entries)
    entriesFromText(text, shown, message.extensions)
    if (!command.check) {
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text)
    }
    const result = { entries, added, gone, undescribed }
    const isCurrent = added.length === 0 && gone.length === 0 && undescribed.length === 0 &&
      publishedOf(entries).every(({ found }) => found?.problem === undefined)
    return {
      code: command.check && !isCurrent ? 1 : 0,
      out: command.json
        ? `${JSON.stringify({ file: shown, ...result }, null, 2)}\n`
        : `${
          [
            ...textFromReview(shown, result, command),
            ...own === undefined
              ? [
                "The app does not read the file yet. Import { review } from 'mcp-from-routes/review' and add " +
                `review(${JSON.stringify(shown)}) to the option extensions`
              ]
              : []
          ].join('\n')
        }\n`,
      err: ''
    }
  })
}

/** A file that is there but cannot be read must not be written over. */
function ifMissing (error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

/** Routes that cannot be tools are not published with others. */
function matches (pattern: string, { route, found }: ReviewEntry): boolean {
  const [first = '', ...more] = pattern.split('*')
  if (found?.problem !== undefined || !route.startsWith(first)) return false
  let rest = route.slice(first.length)
  for (const [index, piece] of more.entries()) {
    const at = index === more.length - 1 ? rest.length - piece.length : rest.indexOf(piece)
    if (at < 0 || !rest.startsWith(piece, at)) return false
    rest = rest.slice(at + piece.length)
  }
  return rest === ''
}

function publishedOf (entries: readonly ReviewEntry[]): readonly ReviewEntry[] {
  return entries.filter(({ publish }) => publish)
}

function textFromReview (
  file: string,
  { entries, added, gone, undescribed }: ReviewResult,
  { check, module }: ReviewCommand
): readonly string[] {
  const published = publishedOf(entries)
  const tokens = published.reduce((sum, { found }) => sum + (found?.tokens ?? 0), 0)
  const failing = published.filter(({ found }) => found?.problem !== undefined)
  const impossible = entries.filter(({ publish, found }) => !publish && found?.problem !== undefined)
  const guessed = published.filter(({ found }) => found?.guessed?.includes('description'))
  const destructive = published.filter((entry) =>
    // A key of another room, which may not be there.
    entry.found?.hints?.includes('destructive') && Reflect.get(entry, 'confirm') === undefined
  )
  const list = (head: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : [`${head}:`, ...lines.map((line) => `  ${line}`)]
  const toolOf = ({ route, name }: ReviewEntry): string => `${name} (${route})`
  return [
    `${file}${check ? '' : ' written'}: ${entries.length} routes, ${published.length} published (about ` +
    `${tokens} tokens), ${impossible.length} cannot be published.`,
    ...check ? list('Not in the file', added) : [],
    ...!check && added.length > 0 ? [`New: ${added.length}.`] : [],
    ...list(check ? 'In the file, but no longer in the app' : 'Removed, because the app no longer has them', gone),
    ...list(
      'Published, but no tools: the app will not start',
      failing.map(({ route, found }) => `${route}: ${String(found?.problem)}`)
    ),
    ...check ? list('Published without a description: the app will not start', undescribed) : [],
    ...list('Published with a guessed description', guessed.map(toolOf)),
    ...list('Published and destructive', destructive.map(toolOf)),
    ...check && (added.length > 0 || gone.length > 0) ? [`Update it: npx mcp-from-routes review ${module}`] : []
  ]
}
