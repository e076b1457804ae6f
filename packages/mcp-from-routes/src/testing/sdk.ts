import type { JsonSchema } from '../schema/json-schema.ts'
import { MCP_FROM_ROUTES_TESTING_NO_CLIENT } from './errors.ts'

/** What is wrong with a value; undefined if it fits the schema. */
export type Mismatch = (schema: JsonSchema, value: unknown) => string | undefined

/** The client of the SDK, and its validator. */
export type Sdk =
  & Pick<typeof import('@modelcontextprotocol/client'), 'Client' | 'StreamableHTTPClientTransport'>
  & { readonly mismatch: Mismatch }

/**
 * Loads the client of the SDK, which only those have who test.
 *
 * @throws {@link MCP_FROM_ROUTES_TESTING_NO_CLIENT}
 */
export async function clientSdk (): Promise<Sdk> {
  try {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
    const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/client/validators/ajv')
    const validator = new AjvJsonSchemaValidator()
    const mismatch: Mismatch = (schema, value) => validator.getValidator(schema)(value).errorMessage
    return { Client, StreamableHTTPClientTransport, mismatch }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw Object.assign(new MCP_FROM_ROUTES_TESTING_NO_CLIENT(), { cause: error })
  }
}
