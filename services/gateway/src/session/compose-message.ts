import type { Bus } from '@mcp-host/bus'
import type { Envelope, SessionId, Up, UserMessage } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import { findAttachments } from './find-attachments.ts'
import { checkStored, storedContent } from './find-message.ts'
import type { IsSame } from './same-message.ts'
import { sameMessage, sameRegeneration } from './same-message.ts'

type Payload<T extends Up['type']> = Extract<Up, { type: T; payload: unknown }>['payload']

export interface DraftContext {
  readonly bus: Bus
  readonly session: SessionId
  readonly envelope: Envelope
  /** The prefix of field names in errors. */
  readonly fieldPrefix: string
}

/** A message as its client sent it, to be stored once. */
export interface MessageDraft {
  /** Whether a stored message with the same id is this message. */
  readonly isSame: IsSame
  /** The message in its stored form. Throws `invalid` or `not-found` when a file or a message that it names is missing. */
  readonly compose: (context: DraftContext) => Promise<Omit<UserMessage, 'id'>>
}

/** The draft of a message with its own text. */
export function draftMessage(sent: Payload<'message'>): MessageDraft {
  const { text, replaces, follows, model, attachments = [] } = sent
  return {
    isSame: sameMessage(sent),
    async compose({ bus, session, envelope, fieldPrefix }) {
      if (replaces !== undefined && follows !== undefined) {
        const field = `${fieldPrefix}follows`
        throw new BusError('invalid', `${field}: must not be given with "replaces"`, { field })
      }
      const files = await findAttachments(bus, session, attachments, `${fieldPrefix}attachments`)
      if (replaces !== undefined) {
        await checkStored(bus, session, replaces, { envelope, field: `${fieldPrefix}replaces` })
      }
      if (follows !== undefined) {
        await checkStored(bus, session, follows, { envelope, field: `${fieldPrefix}follows` })
      }
      return {
        text,
        ...(model === undefined ? {} : { model }),
        ...files,
        ...(replaces === undefined ? {} : { replaces }),
        ...(follows === undefined ? {} : { follows }),
      }
    },
  }
}

/** The draft of a message that repeats an earlier one, in its place. */
export function draftRegeneration(sent: Payload<'regenerate'>): MessageDraft {
  const { messageId, model } = sent
  return {
    isSame: sameRegeneration(sent),
    async compose({ bus, session, envelope, fieldPrefix }) {
      const options = { envelope, field: `${fieldPrefix}messageId` }
      const { text, attachments } = await storedContent(bus, session, messageId, options)
      return {
        text,
        replaces: messageId,
        ...(attachments === undefined ? {} : { attachments }),
        ...(model === undefined ? {} : { model }),
      }
    },
  }
}
