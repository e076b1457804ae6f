/** How to connect one kind of client, with a placeholder for the key. */
export interface ClientSetup {
  readonly client: string
  readonly place: string
  readonly text: string
}

/** What the server wrote into the page. */
export interface Settings {
  /** The origin that the sign-in returns to. */
  readonly origin: string
  readonly version: string
  readonly sign_in: {
    readonly issuer: string,
    readonly client_id: string,
    readonly scope: string,
    readonly callback: string,
    readonly parameters: Readonly<Record<string, string>>
  }
  /** Whether people can see which MCP clients they have let in. */
  readonly connected_apps: boolean
  /**
   * The page of a customer at the payment provider, without the customer's id. Left out where the provider is a
   * stand-in.
   */
  readonly pay_dashboard?: string
  /** Left out where tools are disabled. */
  readonly mcp?: { readonly url: string, readonly key_place: string, readonly setups: readonly ClientSetup[] }
}

export const settings: Settings = JSON.parse(document.getElementById('settings')?.textContent ?? '')

/** Where the application is, without a slash at its end. */
export const BASE = '/console'
