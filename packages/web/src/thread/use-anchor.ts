import type { RefObject } from 'react'
import { useRef } from 'react'
import { scrollerOf } from './scroller.ts'

/** So deep the anchor is looked for: a line of a list in a message is deep enough. */
const MAX_DEPTH = 8

/** What stands at the top of the view, and how far below the upper edge, in pixels. */
interface Anchor {
  readonly element: Element
  readonly top: number
}

/**
 * Keeps what a reader sees in its place while something above it in the same turn changes its size, as with another width
 * of the window. Whole turns above it are the work of virtua.
 */
export function useAnchor(section: RefObject<HTMLElement | null>): {
  /** Notes what is at the top of the view now. */
  readonly hold: () => void
  /** Scrolls it to where it was. */
  readonly restore: () => void
} {
  const anchor = useRef<Anchor>(undefined)
  const hold = (): void => {
    const scroller = scrollerOf(section)
    anchor.current = scroller == null ? undefined : anchorOf(scroller)
  }
  const restore = (): void => {
    const scroller = scrollerOf(section)
    const { element, top = 0 } = anchor.current ?? {}
    if (scroller == null || element === undefined) return
    // It may be gone, or folded.
    if (element.getClientRects().length === 0) hold()
    else scroller.scrollTop += topOf(element) - topOf(scroller) - top
  }
  return { hold, restore }
}

/** The outermost element that begins in view, or the innermost one across the upper edge. */
function anchorOf(scroller: Element): Anchor {
  const edge = topOf(scroller)
  let element = scroller
  for (let depth = 0; depth < MAX_DEPTH && (depth === 0 || topOf(element) < edge); depth++) {
    const inner = Array.from(element.children).find(
      (child) => child.getBoundingClientRect().bottom > edge,
    )
    if (inner === undefined) break
    element = inner
  }
  return { element, top: topOf(element) - edge }
}

function topOf(element: Element): number {
  return element.getBoundingClientRect().top
}
