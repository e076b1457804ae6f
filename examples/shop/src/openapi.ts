import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildApp } from './app.ts'
import { configFromEnvironment } from './config.ts'
import { type Database, openEmbedded } from './database/index.ts'
import { migrate } from './database/migrate.ts'
import { OPENAPI_PATH } from './operations/documentation.ts'

/** The stored description, by which a change of the API is seen. */
export const SNAPSHOT = fileURLToPath(new URL('../contract/openapi.json', import.meta.url))

/** The OpenAPI description of a server with nothing but defaults and the tools. */
export async function openapiDocument (database: Database): Promise<object> {
  const unused = 'x'.repeat(32)
  const config = configFromEnvironment({}, {
    IDP_ISSUER: 'http://127.0.0.1:9', API_KEY_PEPPERS: `unused:${unused}`, PAY_KEY_SECRETS: `unused:${unused}`, MCP_ENABLED: true
  })
  const app = await buildApp({ config, database, logger: false })
  try {
    await app.ready()
    return (await app.inject(OPENAPI_PATH)).json()
  } finally {
    await app.close()
  }
}

/** As it stands in the file. */
export function textOf (document: object): string {
  return JSON.stringify(document, null, 2) + '\n'
}

// npm run openapi: writes the snapshot.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const database = await openEmbedded(null)
  await migrate(database)
  writeFileSync(SNAPSHOT, textOf(await openapiDocument(database)))
  await database.close()
}
