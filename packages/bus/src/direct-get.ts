import type { DirectMsgRequest, StoredMsg } from '@nats-io/jetstream'
import { DirectMsgImpl, JetStreamStatus } from '@nats-io/jetstream/internal'
import type { ReplyInbox } from './reply-inbox.ts'

/** Statuses with which a read of several messages ends. */
const END_OF_BATCH = 204
const NOTHING = 404
/** The time limit for each message. A read without messages was lost with the connection. */
const QUIET_MS = 2_000

export type DirectQuery = DirectMsgRequest & {
  readonly batch?: number
  readonly max_bytes?: number
}

export interface DirectGetDeps {
  readonly inbox: ReplyInbox
  /** See `Broker`. */
  readonly api?: string
}

/** Reads one message of a stream, or a batch, from any replica. */
export async function directGet(
  { inbox, api = '$JS.API' }: DirectGetDeps,
  stream: string,
  query: DirectQuery,
): Promise<StoredMsg[]> {
  const messages: StoredMsg[] = []
  const data = Buffer.from(JSON.stringify(query))
  await inbox.ask(`${api}.DIRECT.GET.${stream}`, data, {
    quietMs: QUIET_MS,
    onAnswer: (answer) => {
      const status = JetStreamStatus.maybeParseStatus(answer)
      if (status === null) messages.push(new DirectMsgImpl(answer))
      else if (status.code !== END_OF_BATCH && status.code !== NOTHING) throw status.toError()
      return status !== null || query.batch === undefined
    },
  })
  return messages
}
