import { createError } from '@fastify/error'

/** The app has no such endpoint, the plugin is not registered, or the app does not let the caller in. */
export const MCP_FROM_ROUTES_TESTING_APP = createError<[string, { cause: unknown }?]>(
  'MCP_FROM_ROUTES_TESTING_APP',
  '%s'
)

/** The client that tests call tools with is not installed. */
export const MCP_FROM_ROUTES_TESTING_NO_CLIENT = createError(
  'MCP_FROM_ROUTES_TESTING_NO_CLIENT',
  'mcp-from-routes/testing needs the client of the MCP SDK: npm install --save-dev @modelcontextprotocol/client'
)

/** The tool is not in the list that this caller gets, so its model cannot call it. */
export const MCP_FROM_ROUTES_TESTING_UNLISTED = createError<[string, string]>(
  'MCP_FROM_ROUTES_TESTING_UNLISTED',
  '%s is not in the list of this caller, which has %s'
)

/** The arguments break the input schema of the tool, so a client that checks them does not send the call. */
export const MCP_FROM_ROUTES_TESTING_ARGUMENTS = createError<[string, string, string]>(
  'MCP_FROM_ROUTES_TESTING_ARGUMENTS',
  'the arguments of %s break its input schema: %s\nThey are %s'
)

/** The result breaks the output schema of the tool, so clients discard it. */
export const MCP_FROM_ROUTES_TESTING_RESULT = createError<[string, string, string]>(
  'MCP_FROM_ROUTES_TESTING_RESULT',
  'the result of %s breaks its output schema: %s\nIt is %s'
)

/** A task was cancelled, or did not end in time. */
export const MCP_FROM_ROUTES_TESTING_TASK = createError<[string, string]>(
  'MCP_FROM_ROUTES_TESTING_TASK',
  'the task of %s %s'
)

/** The file of cases cannot be read, or a case in it is wrong. */
export const MCP_FROM_ROUTES_CASES_FILE = createError<[string, string]>('MCP_FROM_ROUTES_CASES_FILE', '%s: %s')

/** The endpoint of the model is not named, cannot be reached, or refuses. */
export const MCP_FROM_ROUTES_CASES_MODEL = createError<[string]>('MCP_FROM_ROUTES_CASES_MODEL', '%s')
