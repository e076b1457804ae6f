/** How the plugin gives what a contract holds: a property of the app, for any copy of the package in a process. */
export const PUBLISHED = Symbol.for('mcp-from-routes.published')
