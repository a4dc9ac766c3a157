import type { ReactNode } from 'react'
import { useEffect, useEffectEvent, useState } from 'react'
import { Fault } from '../parts/fault.tsx'
import { focusIfLost } from '../parts/focus-if-lost.ts'
import { IconButton } from '../parts/icon.tsx'
import { onEscape } from '../parts/on-escape.ts'
import { TimeAgo } from '../parts/time-ago.tsx'
import type { ChatSession } from '../state/chat-session.ts'
import { draftOf } from '../state/draft.ts'
import { lengthFault } from '../state/length-fault.ts'
import { useStore } from '../state/store.ts'
import type { Turn } from '../state/turn.ts'
import { useIsGone } from '../state/use-is-gone.ts'
import { AttachmentList } from './attachment-list.tsx'
import { BranchSwitcher } from './branch-switcher.tsx'

/** The user's words, and what can be done with them. */
export function UserMessage(props: {
  readonly turn: Turn
  readonly session: ChatSession
  /** Called when the editor opens and closes. */
  readonly onEdit: (isOpen: boolean) => void
}): ReactNode {
  const { turn, session, onEdit } = props
  const isGone = useIsGone(session)
  // Another version may have taken the place of the message whose editor was open.
  const edited = turn.branches.find((each) => session.edited.has(each))
  const [state, setState] = useState<'shown' | 'kept' | 'editing' | 'edited'>(
    edited === undefined ? 'shown' : 'kept',
  )
  const wanted = useStore(session.wantedEditor)
  const canEdit = turn.state !== 'unsent' && !isGone
  const edit = (): void => {
    session.edited.set(turn.id, turn.text)
    setState('editing')
  }
  const isOpen = state === 'kept' || state === 'editing'
  const tell = useEffectEvent(onEdit)
  useEffect(() => tell(isOpen), [isOpen])
  const takeWish = useEffectEvent(() => {
    session.wantedEditor.set(undefined)
    if (canEdit) edit()
  })
  useEffect(() => {
    if (wanted === turn.id) takeWish()
  }, [wanted, turn.id])
  if (isOpen) {
    const close = (): void => {
      for (const each of turn.branches) session.edited.delete(each)
      setState('edited')
    }
    return (
      <Editor
        turn={turn}
        session={session}
        initial={session.edited.get(edited ?? turn.id) ?? turn.text}
        hasFocus={state === 'editing'}
        onDone={close}
      />
    )
  }
  return (
    <header className="user">
      <h2 className="hidden">You said</h2>
      {turn.at !== undefined && <TimeAgo at={turn.at} />}
      <div className="bubble" dir="auto">
        {turn.text}
      </div>
      <AttachmentList attachments={turn.attachments} session={session.id} />
      <div className="actions">
        <BranchSwitcher turn={turn} session={session} />
        {canEdit && (
          <IconButton
            icon="edit"
            label="Edit"
            isTight
            // The editor is gone, so that the focus goes back.
            autoFocus={state === 'edited'}
            onClick={edit}
          />
        )}
      </div>
    </header>
  )
}

function Editor(props: {
  readonly turn: Turn
  readonly session: ChatSession
  readonly initial: string
  /** Whether it takes the focus from elsewhere. */
  readonly hasFocus: boolean
  readonly onDone: () => void
}): ReactNode {
  const { turn, session, initial, hasFocus, onDone } = props
  const isGone = useIsGone(session)
  const [text, setText] = useState(initial)
  const tooLong = lengthFault(text)
  const send = (): void => {
    const attachments = turn.attachments.map(({ blob }) => blob.key)
    const files = attachments.length === 0 ? {} : { attachments, files: turn.attachments }
    onDone()
    const isRefused = turn.state === 'refused'
    const replaces = isRefused ? turn.replaces : turn.id
    if (isRefused) session.thread.discard(turn.id)
    const model = draftOf(session.id).model.get()
    session.say(text, {
      ...(model === undefined ? {} : { model }),
      ...(replaces === undefined ? {} : { replaces }),
      ...files,
    })
  }
  return (
    <div className="editor">
      <textarea
        aria-label="Your message"
        dir="auto"
        value={text}
        ref={focusIfLost}
        autoFocus={hasFocus}
        onChange={({ target }) => {
          setText(target.value)
          session.edited.set(turn.id, target.value)
        }}
        onKeyDown={onEscape(onDone)}
      />
      <Fault fault={tooLong} />
      <div className="actions">
        <button type="button" onClick={onDone}>
          Keep as it was
        </button>
        {!isGone && (
          <button
            type="button"
            className="primary"
            disabled={
              tooLong !== undefined || (text.trim() === '' && turn.attachments.length === 0)
            }
            onClick={send}
          >
            Send as a new version
          </button>
        )}
      </div>
    </div>
  )
}
