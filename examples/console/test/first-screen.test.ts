import t from 'tap'
import { filesOf, FIRST_SCREENS } from './first-screen.ts'

/** The most bytes of compressed code. */
const MOST = 245_000

for (const [name, chunks] of Object.entries(FIRST_SCREENS)) {
  t.test(`the first screen of the ${name} needs few files, which are small`, async (t) => {
    const { files, bytes } = filesOf(chunks)
    t.comment(`${files.length} files, ${bytes} bytes`)
    t.ok(bytes <= MOST, `${bytes} of ${MOST} bytes`)
    t.ok(files.length <= 14, files.join())
    t.notMatch(files.join(), /[Cc]hart/)
  })
}
