import type { DirectMsgRequest, StoredMsg } from '@nats-io/jetstream'
import { DirectMsgImpl, JetStreamStatus } from '@nats-io/jetstream/internal'
import type { ReplyInbox } from './reply-inbox.ts'

/** Statuses with which a read of several messages ends. */
const END_OF_BATCH = 204
const NOTHING = 404
/** A read that gets nothing for so long was lost with the connection. */
const QUIET_MS = 2_000

export type DirectQuery = DirectMsgRequest & {
  readonly batch?: number
  readonly max_bytes?: number
}

/** Any replica of the stream answers: with a batch of messages, or with one. */
export async function directGet(
  inbox: ReplyInbox,
  stream: string,
  query: DirectQuery,
): Promise<StoredMsg[]> {
  const messages: StoredMsg[] = []
  const data = Buffer.from(JSON.stringify(query))
  await inbox.ask(`$JS.API.DIRECT.GET.${stream}`, data, {
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
