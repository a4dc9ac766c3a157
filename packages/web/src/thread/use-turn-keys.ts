import { useRef } from 'react'
import { SHORTCUTS } from '../state/shortcuts.ts'
import type { TurnStore } from '../state/thread.ts'
import { useShortcut } from '../state/use-shortcut.ts'

/** A turn that is scrolled to is drawn within so many frames of the screen. */
const MAX_FRAMES = 60

/** J and K move the focus from turn to turn; from elsewhere, to the newest one. */
export function useTurnKeys(
  turns: readonly TurnStore[],
  scrollToTurn: (index: number) => void,
): void {
  /** Id of the turn that gets the focus once it is drawn. */
  const next = useRef<string>(undefined)
  const focus = (id: string, frames = MAX_FRAMES): void => {
    if (next.current !== id) return
    const turn = document.querySelector<HTMLElement>(`.turn[data-message="${CSS.escape(id)}"]`)
    if (turn !== null) turn.focus({ preventScroll: true })
    if (turn !== null || frames === 0) next.current = undefined
    else requestAnimationFrame(() => focus(id, frames - 1))
  }
  const move = (step: 1 | -1): void => {
    const here = next.current ?? focusedTurn()
    const from = turns.findIndex((turn) => turn.get().id === here)
    const index = from === -1 ? turns.length - 1 : from + step
    const turn = turns[index]
    if (turn === undefined) return
    const { id } = turn.get()
    next.current = id
    focus(id)
    scrollToTurn(index)
  }
  useShortcut(SHORTCUTS.nextTurn, () => move(1))
  useShortcut(SHORTCUTS.previousTurn, () => move(-1))
}

/** Id of the turn that has the focus, itself or in it. */
function focusedTurn(): string | undefined {
  return document.activeElement?.closest<HTMLElement>('.turn')?.dataset['message']
}
