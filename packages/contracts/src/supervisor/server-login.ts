import { z } from 'zod'
import { defineCall } from '../contract.ts'
import { AccountLabel, ServerName } from '../ids.ts'

const byGateways = { from: ['gateway'], to: ['mcp-supervisor'], answeredBy: 'group' } as const

/** The hash of a secret in a cookie: a login ends in the browser in which it began. */
const browser = z.string()

/** A login of a user at an MCP server, without its secrets. */
export const ServerLogin = z.object({
  /** Tells several logins of the user at the server apart. */
  label: z.string(),
  /** The authorization server. */
  issuer: z.string(),
  /** The scopes that were asked for, separated by spaces. */
  scope: z.string().optional(),
  /** Whether the user has to log in again. */
  isNeeded: z.boolean(),
  /** Whether it is the default login, which every call has that names none. */
  isDefault: z.boolean(),
  /** Epoch milliseconds. */
  connectedAt: z.number(),
})
export type ServerLogin = z.infer<typeof ServerLogin>

/** An MCP server at which users log in, with the logins of one user. */
export const LoginServer = z.object({
  server: ServerName,
  url: z.string(),
  logins: z.array(ServerLogin),
})
export type LoginServer = z.infer<typeof LoginServer>

/**
 * Begins a login of the caller at a server. Errors: `not-found` for a server at which nobody logs in; `unavailable` when
 * its authorization server cannot be asked, or does not take this host.
 */
export const beginServerLogin = defineCall('login.begin', {
  ...byGateways,
  request: z.object({ server: ServerName, label: AccountLabel, browser }),
  reply: z.object({
    /** The page for the browser of the user. */
    url: z.string(),
  }),
})

/**
 * Ends a login by the query with which the browser came back. Errors: `not-found` when no login of the caller waits for
 * it; `unavailable` when the authorization server refused it.
 */
export const finishServerLogin = defineCall('login.finish', {
  ...byGateways,
  request: z.object({ server: ServerName, query: z.string().max(16_384), browser }),
  reply: z.object({}),
})

/** The servers at which users log in, with the logins of the caller. */
export const listServerLogins = defineCall('login.list', {
  ...byGateways,
  request: z.object({}),
  reply: z.object({ servers: z.array(LoginServer) }),
})

/** The logins of all users at a server, for admins. */
export const readUsersOfServer = defineCall('login.users', {
  ...byGateways,
  request: z.object({ server: ServerName }),
  reply: z.object({ logins: z.array(ServerLogin.extend({ principal: z.string() })) }),
})

export const LoginChange = z.object({
  label: AccountLabel.optional(),
  /** Makes it the default login, in place of the one before. */
  isDefault: z.literal(true).optional(),
})
export type LoginChange = z.infer<typeof LoginChange>

/**
 * Changes a login of the caller. Errors: `not-found` without that login; `conflict` when another login has the label.
 */
export const changeServerLogin = defineCall('login.change', {
  ...byGateways,
  request: z.object({
    server: ServerName,
    label: z.string(),
    change: LoginChange,
  }),
  reply: z.object({}),
})

/** A public key as a JWK (RFC 7517). */
const PublicKey = z.record(z.string(), z.string())

export const LoginKeys = z.object({
  /** They verify assertions about the users of this host. None where it signs none. */
  keys: z.array(PublicKey),
  /** Encrypts tokens on their way to the supervisors. Absent where users cannot log in. */
  inbox: PublicKey.optional(),
})
export type LoginKeys = z.infer<typeof LoginKeys>

/** The public keys of this host for logins. */
export const readLoginKeys = defineCall('login.keys', {
  ...byGateways,
  request: z.object({}),
  reply: LoginKeys,
})

/** How a program gets tokens for a server by itself. */
export const LoginDescription = z.object({
  /** The authorization server. */
  issuer: z.string(),
  authorizationEndpoint: z.string().optional(),
  tokenEndpoint: z.string().optional(),
  /** Where a device without a browser begins (RFC 8628). */
  deviceAuthorizationEndpoint: z.string().optional(),
  /** Where a client registers itself (RFC 7591). */
  registrationEndpoint: z.string().optional(),
  /** The client that the host was registered as beforehand. */
  clientId: z.string().optional(),
  /** The scopes to ask for, separated by spaces. */
  scope: z.string().optional(),
  /** The name of the server at the authorization server (RFC 8707). */
  resource: z.string().optional(),
})
export type LoginDescription = z.infer<typeof LoginDescription>

/** Errors: `not-found` for a server at which nobody logs in; `unavailable` without an answer of its authorization server. */
export const describeServerLogin = defineCall('login.describe', {
  ...byGateways,
  request: z.object({ server: ServerName }),
  reply: LoginDescription,
})

/** The answer of an authorization server (RFC 6749, section 5.1), or an API key as `access_token`. */
export const BroughtTokens = z.object({
  access_token: z.string().min(1).max(32_768),
  token_type: z.string().max(100).default('Bearer'),
  /** Seconds. */
  expires_in: z.number().positive().optional(),
  refresh_token: z.string().min(1).max(32_768).optional(),
  /** Separated by spaces. */
  scope: z.string().max(10_000).optional(),
  /** The client for which they were issued. Needed beside a refresh token where the configuration names none. */
  client_id: z.string().min(1).max(2_000).optional(),
})
export type BroughtTokens = z.infer<typeof BroughtTokens>

/**
 * Makes a login of tokens that the caller got elsewhere. Errors: `not-found` for a server at which nobody logs in;
 * `invalid` when the server refuses them.
 */
export const bringServerLogin = defineCall('login.bring', {
  ...byGateways,
  request: z.object({
    server: ServerName,
    label: AccountLabel,
    /** `BroughtTokens` with `server`, `label` and `principal`, encrypted for the `inbox` (JWE, RFC 7516). */
    sealed: z.string().max(200_000),
  }),
  reply: z.object({}),
})

/** Ends a login, here and at the authorization server. */
export const endServerLogin = defineCall('login.end', {
  ...byGateways,
  request: z.object({
    server: ServerName,
    label: z.string(),
    /** Whose login it is; absent: the caller's. Others are ended by admins. */
    principal: z.string().optional(),
  }),
  reply: z.object({}),
})
