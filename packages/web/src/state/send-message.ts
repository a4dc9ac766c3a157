import type { ChatSession } from './chat-session.ts'
import type { Draft } from './draft.ts'
import { keepSession } from './route.ts'
import { touchSessions } from './session-list.ts'
import type { Attachment } from './turn.ts'

/** Sends a message to the chosen model. From the first one on, the session has an address and a place in the list. */
export function sendMessage(
  session: ChatSession,
  draft: Draft,
  message: { readonly text: string; readonly files: readonly Attachment[] },
): void {
  const { text, files } = message
  const model = draft.model.get()
  session.say(text, {
    ...(model === undefined ? {} : { model }),
    ...(files.length === 0 ? {} : { attachments: files.map(({ blob }) => blob.key), files }),
  })
  keepSession(session.id)
  touchSessions()
}
