/** An MCP server at which users log in. */
export interface Connection {
  readonly server: string
  /** The address of the server. */
  readonly url: string
  /** The page of the host at which to log in; absent where no browser is logged in at the host. */
  readonly connectPath?: string
  readonly logins: readonly ServerLogin[]
}

/** A login at an MCP server. */
export interface ServerLogin {
  /** Tells several logins at the server apart. */
  readonly label: string
  /** The authorization server. */
  readonly issuer: string
  /** Scopes that were asked for, separated by spaces. */
  readonly scope?: string
  /** Whether the user has to log in again. */
  readonly isNeeded: boolean
  /** Whether it is the default login, which every call has that names none. */
  readonly isDefault: boolean
  /** Epoch milliseconds. */
  readonly connectedAt: number
}

/** A change of a login at an MCP server. */
export interface LoginChange {
  readonly label?: string
  readonly isDefault?: true
}

/** Tokens that were got elsewhere: the answer of an authorization server, or an API key as `access_token`. */
export interface BroughtTokens {
  readonly access_token: string
  readonly token_type?: string
  /** Seconds. */
  readonly expires_in?: number
  readonly refresh_token?: string
  /** Separated by spaces. */
  readonly scope?: string
  readonly client_id?: string
}

/** How a program gets tokens for an MCP server by itself. */
export interface LoginDescription {
  /** The authorization server. */
  readonly issuer: string
  readonly authorizationEndpoint?: string
  readonly tokenEndpoint?: string
  /** Where a device without a browser begins (RFC 8628). */
  readonly deviceAuthorizationEndpoint?: string
  /** Where a client registers itself (RFC 7591). */
  readonly registrationEndpoint?: string
  /** The client that the host was registered as beforehand. */
  readonly clientId?: string
  /** The scopes to ask for, separated by spaces. */
  readonly scope?: string
  /** The name of the server at the authorization server (RFC 8707). */
  readonly resource?: string
}
