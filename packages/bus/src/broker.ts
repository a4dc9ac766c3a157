import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import type { Msg, NatsConnection } from '@nats-io/transport-node'

/** The connection to the broker and its clients, which all parts of the bus share. */
export interface Broker {
  readonly connection: NatsConnection
  readonly jetstream: JetStreamClient
  readonly manager: JetStreamManager
  /** Prefix of the broker's requests for streams. Default: `$JS.API`. */
  readonly api?: string
  /** Logs an error that does not end the bus. */
  readonly warn: (error: unknown, action: string) => void
}

/** Calls back with every message on a subject until disposed. Messages for which `onMessage` throws are skipped. */
export function subscribe(
  { connection, warn }: Pick<Broker, 'connection' | 'warn'>,
  subject: string,
  action: string,
  onMessage: (message: Msg) => void,
): Disposable {
  const subscription = connection.subscribe(subject, {
    callback: (failure, message) => {
      try {
        if (failure !== null) throw failure
        onMessage(message)
      } catch (error) {
        warn(error, action)
      }
    },
  })
  return { [Symbol.dispose]: () => subscription.unsubscribe() }
}

/**
 * Whether a message can be a live event. Those have no headers, unlike stored messages, which the broker sends to any
 * subject that a reader asks for.
 */
export function isLiveEvent({ headers }: Pick<Msg, 'headers'>): boolean {
  return headers === undefined
}
