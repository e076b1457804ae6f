import { asContent, program, type Client } from '../client.ts'

/** The official SDK leaves to the application what a model reads. */
const sdk = { asksForProgress: false, showsInstructions: true, document: 'told', shows: asContent } as const

export const sdk1: Client = {
  ...sdk,
  id: 'sdk-1',
  name: 'SDK 1.x',
  packages: ['@modelcontextprotocol/sdk@1.32.2'],
  configure: "`new StreamableHTTPClientTransport(url, { requestInit: { headers: { 'X-API-Key': key } } })`",
  isNewest: false,
  start: program('sdk-1'),
  // It opened a browser.
  instead: { revoked: ['<throws Error>', 'Unauthorized'] }
}

export const sdk2: readonly Client[] = ['auto', '2026-07-28'].map((mode) => ({
  ...sdk,
  id: `sdk-2-${mode}`,
  name: `SDK 2.x, ${mode}`,
  packages: ['@modelcontextprotocol/client@2.4.0'],
  configure: 'the same, and `new Client(info, { versionNegotiation: { mode: ' +
    `${mode === 'auto' ? "'auto'" : `{ pin: '${mode}' }`} } })\``,
  note: 'It asks the user if your application handles `elicitation/create`.',
  canAsk: true,
  isNewest: true,
  start: program('sdk-2', mode),
  // It opened a browser.
  instead: {
    revoked: ['<throws UnauthorizedError>', 'Unauthorized'],
    forged: ['<throws ProtocolError>', 'Invalid or expired requestState']
  }
}))
