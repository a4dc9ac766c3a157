/** Why a client does not connect again. */
export type EndReason =
  /** `close` was called. */
  | 'closed'
  /** The session was deleted. */
  | 'deleted'
  /** The gateway refuses the session or the event id. */
  | 'refused'
  /** The login, key or token is missing, was revoked or does not allow chats. */
  | 'unauthenticated'
  /** No gateway answered for `giveUpAfterMs`. */
  | 'unreachable'

/** The reason of `reconnecting` after an orderly end of the gateway. */
export const GATEWAY_RESTARTS = 'the gateway restarts'

/** The connection of a `SessionClient`. */
export type ClientState =
  | { readonly state: 'connecting' }
  /** `message`: the greeting of the gateway. */
  | { readonly state: 'connected'; readonly sessionId: string; readonly message: string }
  /** Nothing is lost: messages wait, and the missing events follow. `attempt`: from 1. */
  | { readonly state: 'reconnecting'; readonly reason: string; readonly attempt: number }
  | { readonly state: 'ended'; readonly why: EndReason; readonly message: string }
