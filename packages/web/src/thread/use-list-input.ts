import type { RefObject } from 'react'
import { useEffect, useEffectEvent, useRef } from 'react'

/** Scrolling counts as the user's for so long after an input, in ms. */
const INPUT_MS = 500
/** A tap clicks at most so long after its release, in ms. */
const TAP_MS = 100
const INPUTS = ['wheel', 'touchmove', 'keydown', 'focusin'] as const

export interface ListInput {
  /** Whether the user touches the list, its keys or its scroll bar, or did a moment ago. */
  readonly isRecent: () => boolean
  readonly isPointerDown: () => boolean
  /** Whether the user selects text of the list, or writes in it. */
  readonly isOccupied: () => boolean
}

/** The input of the user in the list of messages, which `scroller` scrolls. */
export function useListInput(
  scroller: RefObject<HTMLElement | null>,
  on: {
    /** A click in the list is over. */
    readonly onRelease: () => void
    /** The user folds or unfolds a part of the list. */
    readonly onFold: () => void
  },
): ListInput {
  const at = useRef(Number.NEGATIVE_INFINITY)
  const isPointerDown = useRef(false)
  const onRelease = useEffectEvent(on.onRelease)
  const onFold = useEffectEvent(on.onFold)
  useEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    const listeners = new AbortController()
    const options = { passive: true, signal: listeners.signal }
    const note = (): void => {
      at.current = performance.now()
    }
    for (const input of INPUTS) element.addEventListener(input, note, options)
    let timer: ReturnType<typeof setTimeout>
    const press = ({ isPrimary, button }: PointerEvent): void => {
      if (!isPrimary || button !== 0) return
      clearTimeout(timer)
      isPointerDown.current = true
    }
    element.addEventListener('pointerdown', press, options)
    /** The list must not move between the release and its click. */
    const release = ({ isPrimary }: PointerEvent): void => {
      if (!isPrimary || !isPointerDown.current) return
      note()
      timer = setTimeout(() => {
        isPointerDown.current = false
        onRelease()
      }, TAP_MS)
    }
    addEventListener('pointerup', release, options)
    const cancel = (): void => {
      isPointerDown.current = false
    }
    // A native menu, and another window, take the release.
    for (const end of ['pointercancel', 'contextmenu', 'blur'])
      addEventListener(end, cancel, options)
    const click = ({ target }: Event): void => {
      const control = target instanceof Element ? target.closest('summary, button, a') : null
      if (control?.matches('summary') === true) onFold()
    }
    element.addEventListener('click', click, { ...options, capture: true })
    return () => {
      listeners.abort()
      clearTimeout(timer)
    }
  }, [scroller])
  return {
    isRecent: () => isPointerDown.current || performance.now() - at.current < INPUT_MS,
    isPointerDown: () => isPointerDown.current,
    isOccupied: () => {
      const { activeElement } = document
      if (scroller.current?.contains(activeElement) === true && isField(activeElement)) return true
      const selection = getSelection()
      if (selection === null || selection.isCollapsed) return false
      return scroller.current?.contains(selection.anchorNode) === true
    },
  }
}

function isField(element: Element | null): boolean {
  return element?.matches('input, textarea, select') === true
}
