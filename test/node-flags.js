const [major] = process.versions.node.split('.').map(Number)

/**
 * Suits processes that live for seconds: WebAssembly is compiled once and fast, as half of the tests start a database
 * in theirs. Node.js 20 optimizes a function after eight times the usual work; later versions have a compiler in
 * between.
 */
export const SHORT_LIVED = [
  '--liftoff-only',
  '--single-threaded-gc',
  '--max-semi-space-size=64',
  ...major < 22 ? ['--interrupt-budget=540000'] : []
]

/**
 * What Node.js runs a test file with.
 *
 * @param {URL} root - the repository, or a copy of it
 */
export const nodeFlags = (
  root
) => ['--import', new URL('test/typescript.js', root).href, '--enable-source-maps', ...SHORT_LIVED]
