import { readdirSync, readFileSync } from 'node:fs'
import parseChangeset from '@changesets/parse'
import t from 'tap'

const FOLDER = new URL('../.changeset/', import.meta.url)

/** As changesets say that a program which ran before no longer starts. */
const REFUSED = /\b(?:startup fails|fails? (?:at )?startup|stops? startup|does not start|no longer starts)\b/i
/** What is no loss to anybody. */
const USELESS = /\b(?:never worked|every call failed)\b/i

/** The bump that docs/versioning.md wants of a text, or undefined if it leaves the choice. */
function leastBump (text: string): 'major' | undefined {
  return text.split(/^- /m).some((point) => REFUSED.test(point) && !USELESS.test(point)) ? 'major' : undefined
}

t.test("a changeset that stops somebody's server is major", async (t) => {
  for (const name of readdirSync(FOLDER).filter((name) => name.endsWith('.md') && name !== 'README.md')) {
    const { releases, summary } = parseChangeset(readFileSync(new URL(name, FOLDER), 'utf8'))
    if (leastBump(summary) === undefined) continue
    t.ok(
      releases.every(({ type }) => type === 'major'),
      `${name}: see docs/versioning.md, or say why it never worked`
    )
  }
})

t.test('the words by which a changeset says so', async (t) => {
  t.equal(leastBump('A name that is too long fails startup.'), 'major')
  t.equal(leastBump('- A route more.\n- The server does not start without it.'), 'major')
  t.equal(leastBump('- An option that had no effect fails at startup: every call failed with it.'), undefined)
  t.equal(leastBump('The log says at startup what is missing.'), undefined)
})
