import type { ConnectionFault } from './connection-fault.ts'

/** Why a client does not connect again. */
export type EndReason =
  /** `close` was called. */
  | 'closed'
  /** The session was deleted. */
  | 'deleted'
  /** The gateway refuses the session or the event id. */
  | 'refused'
  /** The login, key or token is missing or was revoked. */
  | 'unauthenticated'
  /** The login, key or token does not allow chats. */
  | 'forbidden'
  /** No gateway answered for `giveUpAfterMs`. */
  | 'unreachable'

/** The reason of `reconnecting` after an orderly end of the gateway. */
export const GATEWAY_RESTARTS = 'the gateway restarts'

/** The connection of a `SessionClient`. */
export type ClientState =
  | { readonly state: 'connecting' }
  /** `message`: the greeting of the gateway. `over`: `http` where something on the way passes no WebSockets. */
  | {
      readonly state: 'connected'
      readonly sessionId: string
      readonly message: string
      readonly over: 'socket' | 'http'
    }
  /** Nothing is lost: messages wait, and the missing events follow. `attempt`: from 1. `fault`: once it is found out. */
  | {
      readonly state: 'reconnecting'
      readonly reason: string
      readonly attempt: number
      readonly fault?: ConnectionFault | undefined
    }
  | { readonly state: 'ended'; readonly why: EndReason; readonly message: string }
