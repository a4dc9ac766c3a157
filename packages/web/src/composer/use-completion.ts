import { useEffect, useState } from 'react'
import { messageOf } from '../state/message-of.ts'
import type { Choice } from './choices.ts'
import { loadChoices, matching } from './choices.ts'
import type { Completion } from './completion-at.ts'

export interface CompletionList {
  readonly choices: readonly Choice[]
  /** Index of the choice that Enter takes. */
  readonly active: number
  /** What is shown without choices. */
  readonly note: string | undefined
  /** Whether Enter sends the message: nothing can be chosen, so the text is meant as it is. */
  readonly maySend: boolean
  /** Whether a key was for the list. */
  readonly onKey: (key: string) => boolean
}

export interface CompletionOptions {
  /** `undefined`: the list is closed. */
  readonly completion: Completion | undefined
  readonly onChoose: (choice: Choice) => void
  readonly onClose: () => void
}

/** The list of what can be chosen, and its keys: arrows, Enter or Tab, Escape. */
export function useCompletion({
  completion,
  onChoose,
  onClose,
}: CompletionOptions): CompletionList | undefined {
  const kind = completion?.kind
  const word = completion?.word ?? ''
  const [loaded, setLoaded] = useState<readonly Choice[]>()
  const [fault, setFault] = useState<string>()
  const [active, setActive] = useState(0)
  useEffect(() => {
    setLoaded(undefined)
    setFault(undefined)
    if (kind === undefined) return undefined
    // A list that was closed meanwhile is not shown.
    let isClosed = false
    loadChoices(kind).then(
      (choices) => isClosed || setLoaded(choices),
      (error: unknown) => isClosed || setFault(messageOf(error)),
    )
    return () => {
      isClosed = true
    }
  }, [kind])
  useEffect(() => setActive(0), [word, kind])
  if (kind === undefined) return undefined
  const choices = matching(loaded ?? [], word)
  const onKey = (key: string): boolean => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[key]
    const chosen = choices[active]
    if (key === 'Escape') onClose()
    else if (step !== undefined && choices.length > 0)
      setActive((active + step + choices.length) % choices.length)
    else if ((key === 'Enter' || key === 'Tab') && chosen !== undefined) onChoose(chosen)
    else return false
    return true
  }
  const isLoading = loaded === undefined && fault === undefined
  const none = isLoading
    ? `The ${kind}s of the servers are being loaded. Escape closes this list, so that Enter sends the message.`
    : `No server has such a ${kind}.`
  const note = fault ?? (choices.length === 0 ? none : undefined)
  return { choices, active, onKey, note, maySend: !isLoading && choices.length === 0 }
}
