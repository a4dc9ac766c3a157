import type { UserMessage } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'

/** A message as a client sends it. */
interface SentMessage {
  readonly text: string
  readonly replaces?: string | undefined
  readonly follows?: string | undefined
  readonly model?: string | undefined
  /** Keys of files. */
  readonly attachments?: readonly string[] | undefined
}

/** Whether a stored message is the same as a sent one with its id. */
export type IsSame = (stored: UserMessage) => boolean

export function sameMessage(sent: SentMessage): IsSame {
  const { text, replaces, follows, model, attachments = [] } = sent
  return (stored) => {
    const keys = stored.attachments?.map(({ blob }) => blob.key) ?? []
    const isSamePlace = stored.replaces === replaces && stored.follows === follows
    return (
      isSamePlace &&
      stored.model === model &&
      stored.text === text &&
      String(keys) === String(attachments)
    )
  }
}

/** Whether a stored request to regenerate an answer is the same. */
export function sameRegeneration(sent: { messageId: string; model?: string | undefined }): IsSame {
  return ({ replaces, model }) => replaces === sent.messageId && model === sent.model
}

/** Throws `conflict` when the id is taken by another message. `field`: the request field with the id. */
export function checkSame(stored: UserMessage, isSame: IsSame, field: string): void {
  if (isSame(stored)) return
  const message = `${field}: another message of this session has this id; give each message its own`
  throw new BusError('conflict', message, { field })
}
