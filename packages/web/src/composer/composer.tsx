import type { ReactNode } from 'react'
import { useEffect, useRef } from 'react'
import type { ChatSession } from '../state/chat-session.ts'
import type { Draft } from '../state/draft.ts'
import { useStore } from '../state/store.ts'
import { keepSession } from '../state/route.ts'
import { touchSessions } from '../state/session-list.ts'
import { FileList } from './file-list.tsx'
import { MessageInput } from './message-input.tsx'
import { useRunningTurn } from '../state/use-running-turn.ts'

export interface ComposerProps {
  readonly session: ChatSession
  readonly draft: Draft
}

/** Where the user writes. Enter sends, Shift with Enter begins a line. */
export function Composer({ session, draft }: ComposerProps): ReactNode {
  const text = useStore(draft.text)
  const files = useStore(draft.files)
  const input = useRef<HTMLTextAreaElement>(null)
  const running = useRunningTurn(session.thread)
  const { state } = useStore(session.connection)
  const suggestions = useStore(draft.suggestions)
  useEffect(() => {
    if (suggestions > 0) input.current?.focus()
  }, [suggestions])
  const isStoring = files.some(({ stored, fault }) => stored === undefined && fault === undefined)
  const isReady = text.trim() !== '' && !isStoring && state !== 'ended'
  const send = (): void => {
    if (!isReady) return
    const { text: said, stored } = draft.take()
    const model = draft.model.get()
    const attachments = stored.map(({ blob }) => blob.key)
    session.say(said, {
      ...(model === undefined ? {} : { model }),
      ...(attachments.length === 0 ? {} : { attachments, files: stored }),
    })
    keepSession(session.id)
    touchSessions()
  }
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        draft.addFiles(event.dataTransfer.files)
      }}
    >
      <FileList draft={draft} />
      <MessageInput
        ref={input}
        text={text}
        onText={(next) => draft.text.set(typeof next === 'string' ? next : next(draft.text.get()))}
        onFiles={draft.addFiles}
        onSend={send}
      />
      <div className="composer-row">
        <label className="button">
          Attach
          <input
            type="file"
            multiple
            className="hidden"
            onChange={({ target }) => {
              draft.addFiles(target.files)
              // Otherwise the same file could not be chosen again.
              target.value = ''
            }}
          />
        </label>
        <span className="space" />
        {running !== undefined && (
          <button type="button" onClick={() => session.stop(running)}>
            Stop
          </button>
        )}
        <button type="submit" className="primary" disabled={!isReady}>
          {running === undefined ? 'Send' : 'Send next'}
        </button>
      </div>
    </form>
  )
}
