import type { SessionId } from '@mcp-host/contracts'
import type { CallerKey } from './caller-upstreams.ts'

/** A chat. */
export interface SessionCaller {
  readonly session: SessionId
  readonly principal: string
}

/** The only MCP client of an upstream. */
export interface UpstreamClient {
  /** The client's name on the bus. */
  readonly name: string
  readonly capabilities: object
  /** Whether the client has a session. Without one, each request uses the upstream exclusively. */
  readonly hasSession: boolean
}

export interface ClientCaller {
  readonly client: UpstreamClient
  readonly principal: string
}

/** A login of a user at the server. */
export interface UserCaller {
  readonly principal: string
  readonly label: string
}

export const userKey: CallerKey<UserCaller> = {
  // A remote server takes any number of connections, and programs with the tokens of users have no state.
  lease: undefined,
  nameOf: ({ principal, label }) => JSON.stringify([principal, label]),
  principalOf: ({ principal }) => principal,
}

export const sessionKey: CallerKey<SessionCaller> = {
  lease: 'session',
  nameOf: ({ session }) => session,
  principalOf: ({ principal }) => principal,
}

export const clientKey: CallerKey<ClientCaller> = {
  // Ids of clients and chats differ.
  lease: 'session',
  nameOf: ({ client }) => client.name,
  principalOf: ({ principal }) => principal,
}
