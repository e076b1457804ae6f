import createError from '@fastify/error'

/*
 * What keeps the contract from being written or checked. None of these says that the contract is broken.
 */

/** The module does not give an app with tools. */
export const MCP_FROM_ROUTES_CONTRACT_APP = createError<[string, string]>('MCP_FROM_ROUTES_CONTRACT_APP', '%s %s')

/** The file is not a contract. */
export const MCP_FROM_ROUTES_CONTRACT_UNREADABLE = createError<[string, string]>('MCP_FROM_ROUTES_CONTRACT_UNREADABLE', '%s cannot be read as a contract: %s')

/** A commit, tag or changeset that was asked for is not there, or cannot be read. */
export const MCP_FROM_ROUTES_CONTRACT_BASE = createError<[string]>('MCP_FROM_ROUTES_CONTRACT_BASE', '%s')

/** The command line asks for something the command does not do. */
export const MCP_FROM_ROUTES_CONTRACT_USAGE = createError<[string]>('MCP_FROM_ROUTES_CONTRACT_USAGE', '%s')
