import type { RefObject } from 'react'
import { useRef } from 'react'

/** Levels of elements below the list in which the anchor is searched. */
const MAX_DEPTH = 8
/** Elements that scroll by themselves: the anchor is not searched in them. */
const SCROLLS = 'pre, .table'

/** An element at the top of the view, and its distance from the upper edge, in pixels. */
interface Anchor {
  readonly element: Element
  readonly top: number
}

/**
 * Keeps the visible text in its place while something above it in the same turn changes its size, as in a window of another
 * width. virtua does so for whole turns.
 */
export function useAnchor(scroller: RefObject<Element | null>): {
  /** Notes the element at the top of the view. */
  readonly hold: () => void
  /** Scrolls that element to where it was. */
  readonly restore: () => void
} {
  const anchor = useRef<Anchor>(undefined)
  const hold = (): void => {
    anchor.current = scroller.current === null ? undefined : anchorOf(scroller.current)
  }
  const restore = (): void => {
    const { element, top = 0 } = anchor.current ?? {}
    if (scroller.current === null || element === undefined) return
    // The element may be gone, or folded.
    if (element.getClientRects().length === 0) return hold()
    const moved = topOf(element) - topOf(scroller.current) - top
    if (Math.abs(moved) >= 1) scroller.current.scrollTop += moved
  }
  return { hold, restore }
}

/** The outermost element of a turn that begins in view, or the innermost one across the upper edge. */
function anchorOf(scroller: Element): Anchor | undefined {
  const { top: edge, bottom: end } = scroller.getBoundingClientRect()
  let element = scroller
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const isInTurn = element.closest('.turn') !== null
    if (isInTurn && (topOf(element) >= edge || element.matches(SCROLLS))) break
    const inner = Array.from(element.children).find(
      (child) => child.getBoundingClientRect().bottom > edge,
    )
    if (inner === undefined) break
    element = inner
  }
  const top = topOf(element)
  return element.closest('.turn') !== null && top < end ? { element, top: top - edge } : undefined
}

function topOf(element: Element): number {
  return element.getBoundingClientRect().top
}
