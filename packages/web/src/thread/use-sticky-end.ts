import type { RefObject } from 'react'
import { useRef, useState } from 'react'
import type { VirtualizerHandle } from 'virtua'
import { useAnchor } from './use-anchor.ts'
import { useListInput } from './use-list-input.ts'

/** So near the end counts as at the end, in pixels. */
const NEAR = 48
/** The same for the end itself, since positions are rounded. */
const EXACT = 2
/** So long after its last change of size, content moves no more by itself, in ms. */
const SETTLED_MS = 300
/** What is unfolded is drawn after at most so long, in ms. */
const UNFOLDED_MS = 500

/** In pixels. */
interface ScrollPosition {
  /** Height of the content above the view. */
  readonly offset: number
  readonly content: number
  readonly view: number
}

export interface StickyEnd {
  readonly isAtEnd: boolean
  /** `offset`: height of the content above the view, in pixels. */
  readonly onScroll: (offset: number) => void
  /** Called before the frame in which the list has another size is drawn. */
  readonly onResize: () => void
  readonly scrollToEnd: () => void
  /** Scrolls to the beginning of a turn. */
  readonly scrollToTurn: (index: number) => void
}

/**
 * Keeps the end of a list in view until the user scrolls up, selects text, writes in the list or unfolds a part of it; then
 * the visible text stays in its place. Content that becomes shorter and longer again moves the list as well, so that
 * scrolling counts only after an input, or while the content keeps its size: a search of the browser and the wheel over a
 * frame are no inputs of this page. `scrollTo` and `scrollToIndex` of virtua are not used: they scroll again at each growth
 * of an answer.
 */
export function useStickyEnd(
  scroller: RefObject<HTMLElement | null>,
  list: RefObject<VirtualizerHandle | null>,
): StickyEnd {
  const [isAtEnd, setIsAtEnd] = useState(true)
  // The list may grow before the component is drawn again.
  const isFollowing = useRef(true)
  const last = useRef<ScrollPosition>({ offset: 0, content: 0, view: 0 })
  const resizedAt = useRef(0)
  const anchor = useAnchor(scroller)
  const follow = (isWanted: boolean): void => {
    isFollowing.current = isWanted
    setIsAtEnd(isWanted)
    if (!isWanted) anchor.hold()
  }
  const input = useListInput(scroller, {
    onRelease: () => {
      if (isFollowing.current) stay()
    },
    onFold: () => {
      isFollowing.current = false
      anchor.hold()
      setTimeout(() => {
        if (scroller.current !== null && isWithin(EXACT, positionOf(scroller.current))) follow(true)
      }, UNFOLDED_MS)
    },
  })
  const isSettled = (): boolean => performance.now() - resizedAt.current > SETTLED_MS
  /** Stays at the end, unless the user selects or writes something in the list. */
  const stay = (): void => {
    if (scroller.current === null) return
    if (input.isOccupied()) follow(isWithin(EXACT, positionOf(scroller.current)))
    else scrollDown(scroller.current)
  }
  const scrollToEnd = (): void => {
    if (scroller.current === null) return
    if (input.isOccupied()) getSelection()?.removeAllRanges()
    follow(true)
    scrollDown(scroller.current)
  }
  const scrollToTurn = (index: number): void => {
    if (scroller.current === null || list.current === null) return
    scroller.current.scrollTop = list.current.getItemOffset(index)
    // The answer may grow before the event of this scrolling.
    follow(isWithin(NEAR, positionOf(scroller.current)))
  }
  const onScroll = (offset: number): void => {
    if (scroller.current === null) return
    // virtua updates its own sizes after this event.
    const position = { ...positionOf(scroller.current), offset }
    const before = last.current
    last.current = position
    // A busy page may learn of a new size long after it has scrolled.
    const isSameSize = position.content === before.content && position.view === before.view
    const isByUser = input.isRecent() || (isSameSize && isSettled())
    // A wheel of small steps leaves the end, too.
    const isLeft = isByUser && offset < before.offset && !isWithin(EXACT, position)
    if (isLeft) follow(false)
    else if (isWithin(NEAR, position)) follow(true)
    else if (!isFollowing.current) anchor.hold()
    else if (!isByUser) scrollDown(scroller.current)
  }
  const onResize = (): void => {
    if (scroller.current === null) return
    resizedAt.current = performance.now()
    if (!isFollowing.current) {
      anchor.restore()
      setIsAtEnd(isWithin(EXACT, positionOf(scroller.current)))
    } else if (!input.isPointerDown()) stay()
  }
  return { isAtEnd, onScroll, onResize, scrollToEnd, scrollToTurn }
}

function positionOf(scroller: Element): ScrollPosition {
  const { scrollTop: offset, scrollHeight: content, clientHeight: view } = scroller
  return { offset, content, view }
}

/** Whether a position is so near the end of the list, in pixels. */
function isWithin(distance: number, { offset, content, view }: ScrollPosition): boolean {
  return offset + view >= content - distance
}

function scrollDown(scroller: Element): void {
  scroller.scrollTop = scroller.scrollHeight
}
