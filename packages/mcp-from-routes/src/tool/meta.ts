import { MCP_FROM_ROUTES_INVALID_CONFIG } from '../errors.ts'
import type { McpRouteConfig } from '../types.ts'
import type { ToolUi } from '../view/config.ts'

/**
 * The `_meta` of a tool: hints that clients may ignore.
 * @param route - the route as named in errors
 * @param largest - the largest result of a tool whose result can be large, in bytes
 * @param ui - what it says of its view
 * @throws {@link MCP_FROM_ROUTES_INVALID_CONFIG}
 */
export function metaOf (route: string, { searchHint, alwaysLoad }: McpRouteConfig = {}, largest: number | undefined, ui: ToolUi | undefined): Readonly<Record<string, unknown>> | undefined {
  if (searchHint !== undefined && (typeof searchHint !== 'string' || searchHint.trim() === '')) throw new MCP_FROM_ROUTES_INVALID_CONFIG(route, 'searchHint must be a string')
  if (alwaysLoad !== undefined && typeof alwaysLoad !== 'boolean') throw new MCP_FROM_ROUTES_INVALID_CONFIG(route, 'alwaysLoad must be true or false')
  const meta = {
    // Claude Code accepts at most 500,000 characters per result, and a tenth of that without this key.
    ...largest !== undefined && { 'mcp-from-routes/large': true, 'anthropic/maxResultSizeChars': Math.min(500_000, largest) },
    ...searchHint !== undefined && { 'anthropic/searchHint': searchHint },
    ...alwaysLoad !== undefined && { 'anthropic/alwaysLoad': alwaysLoad },
    ...ui && { ui }
  }
  return Object.keys(meta).length > 0 ? meta : undefined
}
