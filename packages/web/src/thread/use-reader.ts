import type { RefObject } from 'react'
import { useEffect, useEffectEvent, useRef } from 'react'

/** Scrolling so soon after an input is the user's, in ms. */
const INPUT_MS = 500
const INPUTS = ['wheel', 'touchmove', 'keydown', 'focusin'] as const

export interface Reader {
  /** Whether the user touches the list, its keys or its scroll bar, or did a moment ago. */
  readonly hasInput: () => boolean
  /** Whether a pointer is pressed in the list. */
  readonly isPressing: () => boolean
  /** Whether text of the list is selected. */
  readonly isSelecting: () => boolean
}

/** What the user does in the list. */
export function useReader(
  section: RefObject<HTMLElement | null>,
  on: {
    /** A pointer that was pressed in the list is released. */
    readonly onRelease: () => void
    /** Something in the list is about to be folded or unfolded. */
    readonly onFold: () => void
  },
): Reader {
  const at = useRef(Number.NEGATIVE_INFINITY)
  const isPressed = useRef(false)
  const onRelease = useEffectEvent(on.onRelease)
  const onFold = useEffectEvent(on.onFold)
  useEffect(() => {
    const element = section.current
    if (element === null) return undefined
    const listeners = new AbortController()
    const options = { passive: true, signal: listeners.signal }
    const note = (): void => {
      at.current = performance.now()
    }
    for (const input of INPUTS) element.addEventListener(input, note, options)
    const press = (): void => {
      isPressed.current = true
    }
    element.addEventListener('pointerdown', press, options)
    const release = (): void => {
      if (!isPressed.current) return
      isPressed.current = false
      note()
      onRelease()
    }
    for (const end of ['pointerup', 'pointercancel']) addEventListener(end, release, options)
    const click = ({ target }: Event): void => {
      if (target instanceof Element && target.closest('summary') !== null) onFold()
    }
    element.addEventListener('click', click, { ...options, capture: true })
    return () => listeners.abort()
  }, [section])
  return {
    hasInput: () => isPressed.current || performance.now() - at.current < INPUT_MS,
    isPressing: () => isPressed.current,
    isSelecting: () => {
      const selection = getSelection()
      if (selection === null || selection.isCollapsed) return false
      return section.current?.contains(selection.anchorNode) === true
    },
  }
}
