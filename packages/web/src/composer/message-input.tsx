import type { ReactNode, Ref } from 'react'
import { lazy, Suspense, useId, useState } from 'react'
import type { Prompt } from '@mcp-host/client'
import { messageOf } from '../state/message-of.ts'
import { isPressed, SHORTCUTS } from '../state/shortcuts.ts'
import type { Choice } from './choices.ts'
import { promptText, readAsFile } from './choices.ts'
import { completionAt } from './completion-at.ts'
import { CompletionList, optionId } from './completion-list.tsx'
import { meantFiles } from './meant-files.ts'
import { insertAt } from './insert-at.ts'
import { useCompletion } from './use-completion.ts'
import { hasTouchKeyboard } from '../parts/has-touch-keyboard.ts'
import { Fault } from '../parts/fault.tsx'

const PromptForm = lazy(async () => ({ default: (await import('./prompt-form.tsx')).PromptForm }))

/** For browsers without `field-sizing`. */
const MAX_ROWS = 8

export interface MessageInputProps {
  readonly ref: Ref<HTMLTextAreaElement>
  readonly text: string
  /** The new text, or how it changes. */
  readonly onText: (next: string | ((text: string) => string)) => void
  readonly onFiles: (files: Iterable<File>) => void
  readonly onSend: () => void
  readonly onEditLast: () => void
  readonly placeholder: string
}

/** The text of a message. `/` offers prompts of MCP servers, `@` their resources. */
export function MessageInput(props: MessageInputProps): ReactNode {
  const { ref, text, onText, onFiles, onSend, onEditLast, placeholder } = props
  const listId = useId()
  const [caret, setCaret] = useState(0)
  /** The text for which the user has closed the list. */
  const [closedAt, setClosedAt] = useState<string>()
  /** The prompt whose arguments are asked, and where its text goes. */
  const [asked, setAsked] = useState<{ readonly prompt: Prompt; readonly place: number }>()
  const [fault, setFault] = useState<string>()
  const completion = closedAt === text ? undefined : completionAt(text, caret)
  const attempt = async (action: () => Promise<void>): Promise<void> => {
    setFault(undefined)
    await action().catch((error: unknown) => setFault(messageOf(error)))
  }
  const insert = (place: number, filled: string): void =>
    onText((before) => insertAt(before, place, filled))
  const choose = (choice: Choice): void => {
    if (completion === undefined) return
    const { start: place } = completion
    onText(text.slice(0, place) + text.slice(caret))
    setCaret(place)
    if ('resource' in choice) void attempt(async () => onFiles([await readAsFile(choice.resource)]))
    else if ((choice.prompt.arguments ?? []).length > 0) setAsked({ prompt: choice.prompt, place })
    else void attempt(async () => insert(place, await promptText(choice.prompt.name, {})))
  }
  const list = useCompletion({ completion, onChoose: choose, onClose: () => setClosedAt(text) })
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const { key } = event
    const isPlain = !event.shiftKey && !event.ctrlKey && !event.altKey
    const isSend =
      key === 'Enter' && (hasTouchKeyboard() ? event.ctrlKey || event.metaKey : !event.shiftKey)
    if ((isPlain && list?.onKey(key) === true) || isSend) event.preventDefault()
    if (text === '' && list === undefined && isPressed(event.nativeEvent, SHORTCUTS.editLast)) {
      event.preventDefault()
      onEditLast()
    }
    if (isSend && (list === undefined || list.maySend)) onSend()
  }
  const active = list === undefined || list.choices.length === 0 ? undefined : list.active
  return (
    <>
      {list !== undefined && <CompletionList id={listId} list={list} onChoose={choose} />}
      <textarea
        ref={ref}
        aria-label="Message"
        dir="auto"
        aria-autocomplete="list"
        aria-controls={list === undefined ? undefined : listId}
        aria-activedescendant={active === undefined ? undefined : optionId(listId, active)}
        placeholder={placeholder}
        enterKeyHint={hasTouchKeyboard() ? 'enter' : 'send'}
        rows={Math.min(MAX_ROWS, text.split('\n').length)}
        value={text}
        onChange={({ target }) => {
          onText(target.value)
          setCaret(target.selectionStart)
        }}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          const files = meantFiles(event.clipboardData)
          if (files.length === 0) return
          event.preventDefault()
          onFiles(files)
        }}
      />
      <Fault fault={fault} />
      {asked !== undefined && (
        <Suspense>
          <PromptForm
            prompt={asked.prompt}
            onText={(filled) => {
              setAsked(undefined)
              insert(asked.place, filled)
            }}
            onClose={() => setAsked(undefined)}
          />
        </Suspense>
      )}
    </>
  )
}
