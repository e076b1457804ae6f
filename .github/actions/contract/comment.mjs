import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'

/*
 * Shows a changelog as one comment of a pull request, which the next run updates. A comment that cannot be written
 * fails nothing: the check decides, and the summary of the run has the same text.
 */

const { CHANGELOG, GITHUB_API_URL, GITHUB_EVENT_PATH, GITHUB_REPOSITORY, PLACE, TOKEN } = process.env

/** Longest comment, in characters; GitHub takes 65,536. */
const LONGEST = 60_000
/** Comments on one page of a list, the most that GitHub gives. */
const PAGE = 100
/** How long a request may take, in milliseconds. */
const TIMEOUT = 30_000

const { pull_request: { number } } = JSON.parse(await readFile(GITHUB_EVENT_PATH, 'utf8'))
const comments = `${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/issues`
const place = posix.normalize(PLACE)
// It begins the comment, so that the next run finds it. Several contracts have a comment each.
const mark = `<!-- mcp-from-routes contract ${createHash('sha256').update(place).digest('hex').slice(0, 16)} -->`
const changelog = await readFile(CHANGELOG, 'utf8')
const body = `${mark}\n## Tool contract\n\n${shortened(changelog)}\n\`${place.replaceAll('`', '')}\`\n`

try {
  const before = await findComment()
  if (before !== undefined) {
    if (before.body !== body) await ask('PATCH', `${comments}/comments/${before.id}`, { body })
  } else if (changelog !== 'The tools have not changed.\n') {
    await ask('POST', `${comments}/${number}/comments`, { body })
  }
} catch (error) {
  // Tokens of pull requests from forks, and of Dependabot's, may only read.
  const isForbidden = error.status === 403 || error.status === 404
  const level = isForbidden ? 'notice' : 'warning'
  const why = isForbidden ? 'its token may not comment' : `the comment failed (${error.status ?? error.name})`
  console.log(`::${level}::The changelog of the tools is in the summary of this run: ${why}`)
}

/** The comment of an earlier run. Anybody may write the mark, but not as a bot. */
async function findComment () {
  for (let page = 1; ; page++) {
    const list = await ask('GET', `${comments}/${number}/comments?per_page=${PAGE}&page=${page}`)
    const found = list.find(({ user, body }) => user?.type === 'Bot' && body?.startsWith(mark))
    if (found !== undefined || list.length < PAGE) return found
  }
}

async function ask (method, url, content) {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      accept: 'application/vnd.github+json',
      'content-type': 'application/json',
      'x-github-api-version': '2022-11-28'
    },
    signal: AbortSignal.timeout(TIMEOUT),
    ...content && { body: JSON.stringify(content) }
  })
  if (!response.ok) throw Object.assign(new Error(`${method} ${response.status}`), { status: response.status })
  return await response.json()
}

/** Whole lines of the text. */
function shortened (text) {
  if (text.length <= LONGEST) return text
  return `${text.slice(0, text.lastIndexOf('\n', LONGEST) + 1)}\nThe rest is in the summary of the run.\n`
}
