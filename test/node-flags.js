/**
 * What Node.js runs a test file with.
 *
 * @param {URL} root - the repository, or a copy of it
 */
export const nodeFlags = (root) => [
  '--import', new URL('test/typescript.js', root).href, '--enable-source-maps',
  // Compiling WebAssembly once and fast suits processes that live for seconds: half of the tests start a database in theirs.
  '--liftoff-only', '--single-threaded-gc', '--max-semi-space-size=64'
]
