/** Somebody who can sign in. Passwords are kept as they are: they are printed at start anyway. */
export interface DemoUser {
  readonly username: string
  readonly password: string
  /** Default: the username. */
  readonly name?: string
  /** Default: `<username>@example.com`. */
  readonly email?: string
  /** Claim `cognito:groups`; absent from tokens when empty. Default `[]`. */
  readonly groups?: readonly string[]
}

/** What the demo identity provider needs to know. */
export interface IdentityProviderOptions {
  /** Port on 127.0.0.1; 0 takes a free one. */
  readonly port: number
  readonly users: readonly DemoUser[]
  /**
   * Directory for the signing key and refresh tokens (file mode 0600), so that sign-ins outlive a restart. Default:
   * none do.
   */
  readonly dataDir?: string
  /** Identifier of the resource server: the public base URL of the shop. Tokens are for it or for a URL under it. */
  readonly resource: string
  /** Id of the public client for browser login. */
  readonly clientId: string
  /** Callback URLs of the public client. Default: `/callback` on port 7777 of `localhost` and `127.0.0.1`. */
  readonly redirectUris?: readonly string[]
  /**
   * Id of the public client for the web application, which is at `/console` of the resource. Default: no such client.
   */
  readonly consoleClientId?: string
  /** The machine client; it may ask for the scope `<resource>/api`. */
  readonly m2m: { readonly clientId: string, readonly clientSecret: string }
  /** Says `code_challenge_methods_supported` in the metadata. Default `false`, as Amazon Cognito. */
  readonly advertisePkce?: boolean
  /** Adds `iss` to callbacks (RFC 9207). Default `false`, as Amazon Cognito. */
  readonly sendIss?: boolean
  /** Validity of access tokens, in seconds. Default 3600, one hour. */
  readonly accessTokenSeconds?: number
}
