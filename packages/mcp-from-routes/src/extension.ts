import type { CoreSettings, ExtensionSettings } from './settings.ts'

/**
 * What adds to the core. A function of a subpath makes it, such as `confirm()` of `mcp-from-routes/confirm`; what is in
 * it is not part of the public interface.
 */
export interface Extension {
  /** Its import, as errors name it. */
  readonly name: string
  /** The keys of `config.mcp` that it reads. */
  readonly keys: readonly string[]
  /** The tag that publishes a route in its way. */
  readonly tag?: string
  /** Extensions that it builds on, registered with it. */
  readonly needs?: readonly Extension[]
  /** @throws {@link MCP_FROM_ROUTES_INVALID_OPTION} */
  readonly settings: (core: CoreSettings) => Partial<ExtensionSettings>
}
