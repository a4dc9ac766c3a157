import type { Down, SessionEvent, ToolProgressDown } from '@mcp-host/contracts'
import type { ClientState } from './client-state.ts'
import type { HostError } from './host-error.ts'
import type { OutboxStore } from './outbox.ts'
import type { HostAddress } from './api/request-json.ts'

/** What a session tells its clients. Only events with an `id` are repeated to a client that resumes. */
export type ClientEvent = SessionEvent | ToolProgressDown | Extract<Down, { type: 'queue' }>

export interface SessionClientOptions extends Omit<HostAddress, 'url'> {
  /** Base URL of a gateway, as `https://mcp.example.com`. A function is called for each attempt to connect. */
  readonly url: string | (() => string)
  /** The session to join. Default: a new one. */
  readonly sessionId?: string
  /** Id of the last known event: those after it follow. Default: those of the running turn, or new ones. */
  readonly after?: string
  readonly onEvent: (event: ClientEvent) => void
  readonly onState?: (state: ClientState) => void
  /** Keeps messages that are not accepted yet, beyond the life of this client. */
  readonly outbox?: OutboxStore
  /** Called when the gateway refuses a frame that an earlier client has left in `outbox`. */
  readonly onRefused?: (id: string, error: Error) => void
  /**
   * Called when the gateway refuses a frame for good, also a cancel. `messageId`: of the frame, empty if the gateway could
   * not read it.
   */
  readonly onError?: (error: HostError, messageId: string) => void
  /** Without a connection for so long, the client ends. Default: it tries for ever. */
  readonly giveUpAfterMs?: number
  /** The time limit for each attempt to connect. Default: 10 s. */
  readonly connectTimeoutMs?: number
  /** A connection on which nothing comes for so long, in spite of a ping, is left. Default: 30 s. */
  readonly silenceMs?: number
}

export interface MessageExtras {
  /** Of the message. Default: a new one. */
  readonly id?: string
  /** Id of the message that this one replaces: another branch begins in its place. */
  readonly replaces?: string
  /** Id of the message that this one follows: its branch goes on. Default: the newest message. */
  readonly follows?: string
  /** `provider/model` or `provider`. Default: the session's. */
  readonly model?: string
  /** Keys of `HostApi.storeFile`. */
  readonly attachments?: readonly string[]
}

/** The answer of a user to the question of an `input` event. */
export interface Answer {
  /** Of the question. */
  readonly id: string
  readonly action: 'accept' | 'decline' | 'cancel'
  /** With `accept`: the values of the fields of its schema. */
  readonly content?: Readonly<Record<string, string | number | boolean | readonly string[]>>
}

/** A frame on its way. */
export interface Sent {
  /** Of the message. */
  readonly id: string
  /** Resolves once the message is stored: it is answered whatever dies then. Rejects with `HostError` when it is refused. */
  readonly accepted: Promise<{ readonly duplicate: boolean }>
}
