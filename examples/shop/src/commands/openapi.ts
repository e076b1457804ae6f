import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import appOfContract from '../contract.ts'
import { OPENAPI_PATH } from '../pages/documentation.ts'

/** The stored description, by which a change of the API is seen. */
export const SNAPSHOT = fileURLToPath(new URL('../../contract/openapi.json', import.meta.url))

/**
 * The OpenAPI description of a server with nothing but defaults and the tools. It needs neither network nor database.
 */
export async function openapiDocument (): Promise<object> {
  const app = await appOfContract()
  try {
    return (await app.inject(OPENAPI_PATH)).json()
  } finally {
    await app.close()
  }
}

// npm run openapi: writes the snapshot.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(SNAPSHOT, JSON.stringify(await openapiDocument(), null, 2) + '\n')
}
