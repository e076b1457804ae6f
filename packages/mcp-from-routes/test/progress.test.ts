import t from 'tap'
import { progressReader, type Progress } from '../src/call/progress.ts'

/** What is reported of a body that a route writes in these pieces. */
function reported (pieces: readonly string[], contentType: string | undefined, statusCode = 200): readonly Progress[] {
  const seen: Progress[] = []
  const read = progressReader((progress) => seen.push(progress))
  for (const piece of pieces) {
    read(Buffer.from(piece, 'latin1'), { statusCode, headers: { 'content-type': contentType }, body: '' })
  }
  return seen
}

const EVENTS = 'text/event-stream; charset=utf-8'
const LINES = 'application/x-ndjson'
const long = 'x'.repeat(1000)

for (
  const [title, pieces, type, gives] of [
    ['events', ['data: a\n\ndata:b\n\n'], EVENTS, [{ progress: 1, message: 'a' }, { progress: 2, message: 'b' }]],
    ['lines', ['a\n', 'b\r\nc\n'], LINES, [{ progress: 1, message: 'a' }, { progress: 2, message: 'b' }, {
      progress: 3,
      message: 'c'
    }]],
    ['a line in pieces, and one that does not end', ['da', 'ta: a', '\n\ndata: b'], EVENTS, [{
      progress: 1,
      message: 'a'
    }]],
    ['a character in pieces', ['\xc3', '\xbc\n'], LINES, [{ progress: 1, message: 'ü' }]],
    ['what is no data', ['event: x\n: sign of life\ndata:\ndata:  \n\n'], EVENTS, []],
    ['empty lines', ['\n \n'], LINES, []],
    ['what an object says', ['{"progress":0.5,"total":2,"message":"half"}\n'], LINES, [{
      progress: 0.5,
      total: 2,
      message: 'half'
    }]],
    ['an object without a message', ['{"progress":5}\n'], LINES, [{ progress: 5, message: '{"progress":5}' }]],
    [
      'progress that does not rise',
      ['{"progress":5}\n{"progress":5,"message":"a"}\n{"progress":2,"message":"b"}\n'],
      LINES,
      [{ progress: 5, message: '{"progress":5}' }, { progress: 6, message: 'a' }, { progress: 7, message: 'b' }]
    ],
    ['members of another type', ['{"progress":"5","total":"9","message":7}\n'], LINES, [{
      progress: 1,
      message: '{"progress":"5","total":"9","message":7}'
    }]],
    ['what is no object', ['7\n'], LINES, [{ progress: 1, message: '7' }]],
    ['a long message', [`${long}\n${long}y\n`], LINES, [{ progress: 1, message: long }, {
      progress: 2,
      message: long
    }]],
    ['another type', ['a\n'], 'text/plain', []],
    ['no type', ['a\n'], undefined, []]
  ] as const
) {
  t.test(`progress: ${title}`, async (t) => t.strictSame(reported(pieces, type), gives))
}

t.test('only a success has progress', async (t) => {
  for (const [status, count] of [[200, 1], [299, 1], [300, 0], [500, 0]] as const) {
    t.equal(reported(['a\n'], LINES, status).length, count, String(status))
  }
})
