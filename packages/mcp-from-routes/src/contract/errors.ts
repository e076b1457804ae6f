import { createError } from '@fastify/error'

/*
 * Reasons why the contract cannot be written or checked. None of these means that the contract is broken.
 */

/** The module provides no app with tools. */
export const MCP_FROM_ROUTES_CONTRACT_APP = createError<[string, string]>('MCP_FROM_ROUTES_CONTRACT_APP', '%s %s')

/** The file is not a contract. */
export const MCP_FROM_ROUTES_CONTRACT_UNREADABLE = createError<[string, string]>(
  'MCP_FROM_ROUTES_CONTRACT_UNREADABLE',
  '%s cannot be read as a contract: %s'
)

/** A requested commit, tag or changeset does not exist, or cannot be read. */
export const MCP_FROM_ROUTES_CONTRACT_BASE = createError<[string]>('MCP_FROM_ROUTES_CONTRACT_BASE', '%s')

/** The command line is wrong. */
export const MCP_FROM_ROUTES_CONTRACT_USAGE = createError<[string]>('MCP_FROM_ROUTES_CONTRACT_USAGE', '%s')
