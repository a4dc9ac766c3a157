import type { UserMessage } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'

/** A message as a client sends it. */
interface SentMessage {
  readonly text: string
  readonly replaces?: string | undefined
  readonly model?: string | undefined
  /** Keys of files. */
  readonly attachments?: readonly string[] | undefined
}

/** Tells whether a stored message is the one that is sent under its id. */
export type IsSame = (stored: UserMessage) => boolean

export function sameMessage({ text, replaces, model, attachments = [] }: SentMessage): IsSame {
  return (stored) => {
    const keys = stored.attachments?.map(({ blob }) => blob.key) ?? []
    const isSameTurn = stored.replaces === replaces && stored.model === model
    return isSameTurn && stored.text === text && String(keys) === String(attachments)
  }
}

/** Whether a stored request to regenerate an answer is the same. */
export function sameRegeneration(sent: { messageId: string; model?: string | undefined }): IsSame {
  return ({ replaces, model }) => replaces === sent.messageId && model === sent.model
}

/** Throws `conflict` when the id of a message is that of another one. `field` names the id. */
export function checkSame(stored: UserMessage, isSame: IsSame, field: string): void {
  if (isSame(stored)) return
  const message = `${field}: another message of this session has it; give each its own`
  throw new BusError('conflict', message, { field })
}
