import t from 'tap'
import { filesOf, FIRST_SCREENS } from './first-screen.ts'

/** The most bytes of compressed code. */
const MOST = 245_000
/** The most that another language adds for those who want it. */
const MOST_OF_LANGUAGE = 14_000

t.test('German is a small file, which an English start does not load', async (t) => {
  const { files: [german = ''] } = filesOf(['german'])
  t.match(german, /german/)
  for (const chunks of Object.values(FIRST_SCREENS)) {
    const english = filesOf(chunks)
    const both = filesOf([...chunks, 'german'])
    t.notOk(english.files.includes(german))
    t.comment(`${both.bytes} bytes in German`)
    t.ok(both.bytes - english.bytes <= MOST_OF_LANGUAGE, `${both.bytes - english.bytes} bytes more`)
  }
})

for (const [name, chunks] of Object.entries(FIRST_SCREENS)) {
  t.test(`the first screen of the ${name} needs few files, which are small`, async (t) => {
    const { files, bytes } = filesOf(chunks)
    t.comment(`${files.length} files, ${bytes} bytes`)
    t.ok(bytes <= MOST, `${bytes} of ${MOST} bytes`)
    t.ok(files.length <= 14, files.join())
    t.notMatch(files.join(), /[Cc]hart/)
  })
}
