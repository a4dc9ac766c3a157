import type { ClientState } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useEffect, useRef, useState } from 'react'
import type { ChatSession } from '../state/chat-session.ts'
import type { ChosenFile, Draft } from '../state/draft.ts'
import { lengthFault } from '../state/length-fault.ts'
import { useStore } from '../state/store.ts'
import { sendMessage } from '../state/send-message.ts'
import { focusOpened } from '../parts/focus-message.ts'
import { Fault } from '../parts/fault.tsx'
import { Icon } from '../parts/icon.tsx'
import { ChosenFiles } from './chosen-files.tsx'
import { MessageInput } from './message-input.tsx'
import { ModelPicker } from './model-picker.tsx'
import { takeDrops } from './take-drops.ts'
import { useRunningTurn } from '../state/use-running-turn.ts'

export interface ComposerProps {
  readonly session: ChatSession
  readonly draft: Draft
  /** Between the buttons: how full the context is. */
  readonly gauge: ReactNode
}

/** Where the user writes. Enter sends, Shift with Enter begins a line. */
export function Composer({ session, draft, gauge }: ComposerProps): ReactNode {
  const text = useStore(draft.text)
  const files = useStore(draft.files)
  const input = useRef<HTMLTextAreaElement>(null)
  const running = useRunningTurn(session)
  const { state } = useStore(session.connection)
  const suggestions = useStore(draft.suggestions)
  useEffect(() => {
    if (suggestions > 0) input.current?.focus()
  }, [suggestions])
  useEffect(() => {
    if (state === 'connected') draft.storeAgain()
  }, [draft, state])
  useEffect(() => takeDrops(draft), [draft])
  useEffect(focusOpened, [])
  const model = useStore(draft.model)
  /** Writes a letter that opens a list, as if it was typed. */
  const begin = (letter: string): void => {
    const element = input.current
    if (element === null) return
    element.focus()
    const before = element.value.slice(0, element.selectionStart)
    element.setRangeText(
      before === '' || /\s$/.test(before) ? letter : ` ${letter}`,
      element.selectionStart,
      element.selectionEnd,
      'end',
    )
    element.dispatchEvent(new Event('input', { bubbles: true }))
  }
  const tooLong = lengthFault(text)
  const obstacle = fileObstacle(files)
  const isFilled = text.trim() !== '' || files.length > 0
  const isReady = isFilled && tooLong === undefined && obstacle === undefined && state !== 'ended'
  /** The obstacle to the last attempt to send. */
  const [told, setTold] = useState<string>()
  const send = (): void => {
    setTold(obstacle)
    if (!isReady) return
    const { text: said, stored } = draft.take()
    sendMessage(session, draft, { text: said, files: stored })
  }
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <ChosenFiles draft={draft} />
      <MessageInput
        ref={input}
        text={text}
        onText={(next) => draft.text.set(typeof next === 'string' ? next : next(draft.text.get()))}
        onFiles={draft.addFiles}
        onSend={send}
        onEditLast={() => session.editLast()}
        placeholder={placeholderOf(running !== undefined, state)}
      />
      <Fault fault={tooLong ?? (told === obstacle ? told : undefined)} />
      <div className="composer-row">
        <label className="button icon-button" title="Attach files">
          <Icon name="clip" />
          <input
            type="file"
            multiple
            className="hidden"
            aria-label="Attach"
            onChange={({ target }) => {
              draft.addFiles(target.files)
              // Otherwise the same file could not be chosen again.
              target.value = ''
            }}
          />
        </label>
        <CompletionButton letter="/" label="Prompts" onStart={begin} />
        <CompletionButton letter="@" label="Resources" onStart={begin} />
        <span className="end" />
        {gauge}
        <ModelPicker value={model} onChange={(chosen) => draft.model.set(chosen)} />
        {running !== undefined && (
          <button
            type="button"
            className="send stop"
            aria-label="Stop"
            title="Stop"
            onClick={({ detail }) => {
              session.stop(running)
              // The button goes away with the answer. A touch must not open the keyboard of a phone.
              if (detail === 0) input.current?.focus()
            }}
          >
            <Icon name="stop" />
          </button>
        )}
        {(running === undefined || isReady) && (
          <SendButton isReady={isReady} isNext={running !== undefined} />
        )}
      </div>
    </form>
  )
}

/** Why the message cannot be sent with its files. */
function fileObstacle(files: readonly ChosenFile[]): string | undefined {
  // A file with a fault is removed first: it must not stay behind unseen.
  const faulty = files.find(({ fault }) => fault !== undefined)
  if (faulty !== undefined)
    return `The message is not sent with ${faulty.file.name}: ${faulty.fault}. Remove the file to send it.`
  const open = files.find(({ stored }) => stored === undefined)
  return open && `${open.file.name} is being stored. Send the message when that is done.`
}

function placeholderOf(isRunning: boolean, state: ClientState['state']): string {
  if (state === 'reconnecting') return 'Write on; messages are sent after reconnecting'
  return isRunning
    ? 'Write on; it is sent when this answer is complete'
    : 'Message, / for prompts, @ for resources'
}

/** A button that opens a list of what can be put into the message. */
function CompletionButton(props: {
  readonly letter: string
  readonly label: string
  readonly onStart: (letter: string) => void
}): ReactNode {
  const { letter, label, onStart } = props
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={label}
      onClick={() => onStart(letter)}
    >
      <span className="mono">{letter}</span>
    </button>
  )
}

function SendButton(props: { readonly isReady: boolean; readonly isNext: boolean }): ReactNode {
  const name = props.isNext ? 'Send next' : 'Send'
  return (
    <button
      type="submit"
      className="send move"
      aria-label={name}
      title={name}
      disabled={!props.isReady}
    >
      <Icon name="send" />
    </button>
  )
}
