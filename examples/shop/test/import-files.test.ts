import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { linesFromCsv } from '../src/imports/csv.ts'
import { linesFromJsonLines } from '../src/imports/json-lines.ts'
import type { Line } from '../src/imports/line.ts'
import { piecesOf, textOf } from '../src/imports/text.ts'

const turn = async (): Promise<void> => {}
const parseJson = JSON.parse as (text: string) => unknown

/** The products of a file, and what is wrong with it. */
async function all (lines: AsyncIterable<Line>): Promise<Array<Omit<Line, 'size'>>> {
  const found = []
  for await (const { size: _, isFromCells: __, source: ___, headings, ...line } of lines) {
    if (headings === undefined) found.push(line)
  }
  return found
}

/** Reads a file as it arrives: at once, byte by byte, and in between. */
async function readInPieces (t: Test, file: string | Buffer, read = linesFromCsv): Promise<Array<Omit<Line, 'size'>>> {
  const bytes = Buffer.from(file as string)
  const results = []
  for (const length of [bytes.length, 1, 2, 5]) {
    const chunks = Array.from(
      { length: Math.ceil(bytes.length / length) },
      (_, n) => bytes.subarray(n * length, (n + 1) * length)
    )
    results.push(await all(read(textOf(Readable.from(chunks), turn), parseJson)))
  }
  // What cannot be read ends a piece.
  const isWhole = results[0]!.at(-1)?.problem?.isFatal !== true
  for (const result of results) {
    t.strictSame(isWhole ? result : result.at(-1), isWhole ? results[0] : results[0]!.at(-1), 'however it arrives')
  }
  return results[0]!
}

const products = (lines: ReadonlyArray<Omit<Line, 'size'>>) =>
  lines.map(({ line, product, problem }) => [line, problem?.message ?? product] as const)

t.test('each line of a file ends as it likes', async (t) => {
  const wanted = [[2, { name: 'A', sku: 'TS-1' }], [3, { name: 'B', sku: 'TS-2' }], [4, { name: 'C', sku: null }]]
  const endings = ['\n', '\r\n', '\r']
  for (const first of endings) {
    for (const second of endings) {
      for (const last of [...endings, '']) {
        const file = `name,sku${first}A,TS-1${second}B,"TS-2"${first}C,${last}`
        t.strictSame(products(await readInPieces(t, file)), wanted, JSON.stringify(file))
        t.strictSame(products(await all(linesFromCsv(piecesOf(`\ufeff${file}`, turn), parseJson))), wanted)
        const lines = `{"name":1}${first}{"name":2}${second}${second}{"name":3}${last}`
        t.strictSame(products(await readInPieces(t, lines, linesFromJsonLines)), [
          [1, { name: 1 }],
          [2, { name: 2 }],
          [4, { name: 3 }]
        ], JSON.stringify(lines))
      }
    }
  }
})

t.test('a problem names the line at which the product begins, whatever is in the cells before', async (t) => {
  const cell = '"one\r\ntwo\r\n\rthree\n\n"'
  const file = `name,description\r\n${`P,${cell}\r\n\r\n`.repeat(50)}Q,${cell},x\r\nR,x\r\n`
  const lines = await readInPieces(t, file)
  t.strictSame(lines.at(-2), {
    line: 2 + 50 * 7,
    problem: { field: '', message: 'The line has 3 cells, and the first one has 2' }
  })
  t.strictSame(lines.at(-1), { line: 2 + 51 * 7 - 1, product: { name: 'R', description: 'x' } })
  t.strictSame(lines[0], { line: 2, product: { name: 'P', description: 'one\r\ntwo\r\n\rthree\n\n' } })
  t.equal(file.slice(0, file.indexOf('R,x')).split(/\r\n|\r|\n/).length, lines.at(-1)!.line)
})

t.test('quotes', async (t) => {
  for (
    const [cells, name, description] of [
      ['"a","b"', 'a', 'b'],
      ['"a""b",""', 'a"b', ''],
      ['"""",', '"', null],
      ['"a,b","\n"', 'a,b', '\n'],
      ['" a ", b', ' a ', ' b'],
      ['"""a""","é日🫖"', '"a"', 'é日🫖']
    ] as const
  ) t.strictSame(products(await readInPieces(t, `name,description\n${cells}`)), [[2, { name, description }]], cells)
  for (
    const [rows, line, message] of [
      ['a,"open', 2, /not closed/],
      ['a,b\n"x\ny,c\nd,e\n', 3, /not closed/],
      ['a"b,c', 2, /must be doubled/],
      ['a,b\n"a"b,c', 3, /must be followed/],
      ['"a" ,b', 2, /must be followed/],
      [`a,"${'x\n'.repeat(200_000)}`, 2, /A quote is not closed, or the line is longer than 262144/],
      [`a,b\n${'x'.repeat(300_000)}`, 3, /The line is longer than 262144/],
      [','.repeat(501), 2, /more than 500 cells/]
    ] as const
  ) {
    for (const whole of [rows, `${rows}\n`]) {
      t.match((await all(linesFromCsv(piecesOf(`name,description\n${whole}`, turn), parseJson))).at(-1), {
        line,
        problem: { field: '', message, isFatal: true }
      }, JSON.stringify(whole.slice(0, 40)))
    }
  }
})

t.test('a byte order mark is left out, and other encodings are refused by line', async (t) => {
  t.strictSame(products(await readInPieces(t, '\ufeffname\nA\ufeff')), [[2, { name: 'A\ufeff' }]])
  const wrong = await readInPieces(t, Buffer.from('name\r\n"a\r\nb"\rTea\nCaf\xe9\nMug', 'latin1'))
  t.strictSame(wrong.at(-1), {
    line: 5,
    problem: { field: '', message: 'The line is not UTF-8: save the file as CSV UTF-8', isFatal: true }
  })
  t.match((await readInPieces(t, Buffer.from('name\nTea\nCaf\xc3', 'latin1'))).at(-1), {
    line: 3,
    problem: { message: /UTF-8/ }
  }, 'an end in the middle of a character')
  for (
    const [bytes, what] of [
      [Buffer.from('\ufeffname\na', 'utf16le'), 'UTF-16'],
      [Buffer.from('\ufeffname\na', 'utf16le').swap16(), 'UTF-16'],
      [Buffer.from('name\na\n', 'utf16le'), 'UTF-16'],
      [Buffer.from([0x1f, 0x8b, 8, 0]), 'compressed with gzip'],
      [Buffer.from('PK\x03\x04'), 'a ZIP archive or a workbook']
    ] as const
  ) {
    for (const length of [1, bytes.length]) {
      const chunks = Array.from(
        { length: Math.ceil(bytes.length / length) },
        (_, n) => bytes.subarray(n * length, (n + 1) * length)
      )
      await t.rejects(all(linesFromCsv(textOf(Readable.from(chunks), turn), parseJson)), {
        field: 'content',
        message: `content is ${what}: save the file as CSV UTF-8`
      }, what)
    }
  }
})

t.test('what spreadsheets write around a table says nothing', async (t) => {
  for (
    const file of [
      'name;sku\r\nTea;T-1',
      'sep=;\r\nname;sku\r\nTea;T-1',
      '"sep=;"\nname;sku\nTea;T-1',
      'sep=\t\nname\tsku\nTea\tT-1',
      'name;sku;;\nTea;T-1;;',
      'name;sku\nTea;T-1;;',
      'name;;sku\nTea;" ";T-1'
    ]
  ) {
    const [found] = await readInPieces(t, file)
    t.strictSame(found!.product, { name: 'Tea', sku: 'T-1' }, JSON.stringify(file))
  }
  t.strictSame(products(await readInPieces(t, 'sep=,\nname,sku\nTea,T-1')), [[3, { name: 'Tea', sku: 'T-1' }]])
})
