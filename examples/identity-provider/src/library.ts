/*
 * oidc-provider says at its import that it does not support Node.js 20. What the demo uses of it works there, as its
 * tests show, so a reader of the demo's output need not wonder.
 */
const { warn } = console
console.warn = (...line: unknown[]) => {
  if (!String(line[0]).includes('Unsupported runtime')) warn(...line)
}
const library = await import('oidc-provider')
console.warn = warn

export const { default: Provider, errors, interactionPolicy } = library
