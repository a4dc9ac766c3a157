import type { RefObject } from 'react'
import { useRef, useState } from 'react'
import type { VListHandle } from 'virtua'
import { scrollerOf } from './scroller.ts'
import { useAnchor } from './use-anchor.ts'
import { useReader } from './use-reader.ts'

/** So near the end counts as at the end, in pixels. */
const NEAR = 48
/** The end itself: places are fractions of pixels. */
const EXACT = 1
/** So long after its last change of size, content moves no more by itself, in ms. */
const SETTLED_MS = 300

/** In pixels. */
interface Place {
  /** What is hidden above. */
  readonly offset: number
  readonly content: number
  readonly view: number
}

export interface StickyEnd {
  readonly isAtEnd: boolean
  /** `offset`: what is hidden above, in pixels. */
  readonly onScroll: (offset: number) => void
  /** Called before the frame in which the list has another size is drawn. */
  readonly onResize: () => void
  readonly toEnd: () => void
  /** Scrolls to the beginning of a turn, by its place in the list. */
  readonly toTurn: (index: number) => void
}

/**
 * Keeps the end of a list in view until the user scrolls up, selects text or unfolds something; then what they see stays
 * in its place. Content that becomes shorter and longer again moves the list as well, so that scrolling counts only after
 * an input, or while the content keeps its size: a search of the browser and the wheel over a frame are no inputs of this
 * page. `scrollTo` and `scrollToIndex` of virtua are not used: they scroll again at each growth of an answer.
 */
export function useStickyEnd(
  section: RefObject<HTMLElement | null>,
  list: RefObject<VListHandle | null>,
): StickyEnd {
  const [isAtEnd, setIsAtEnd] = useState(true)
  // The list may grow before the component is drawn again.
  const follows = useRef(true)
  const last = useRef<Place>({ offset: 0, content: 0, view: 0 })
  const resizedAt = useRef(0)
  const anchor = useAnchor(section)
  const follow = (isWanted: boolean): void => {
    follows.current = isWanted
    setIsAtEnd(isWanted)
    if (!isWanted) anchor.hold()
  }
  const reader = useReader(section, {
    onRelease: () => {
      if (follows.current) stay()
    },
    onFold: () => {
      follows.current = false
      anchor.hold()
    },
  })
  const isSettled = (): boolean => performance.now() - resizedAt.current > SETTLED_MS
  /** Stays at the end, unless the user selects text. */
  const stay = (): void => {
    const scroller = scrollerOf(section)
    if (scroller == null) return
    if (reader.isSelecting()) follow(isWithin(EXACT, placeOf(scroller)))
    else scrollDown(scroller)
  }
  const toEnd = (): void => {
    follow(true)
    const scroller = scrollerOf(section)
    if (scroller != null) scrollDown(scroller)
  }
  const toTurn = (index: number): void => {
    const scroller = scrollerOf(section)
    if (scroller == null || list.current === null) return
    scroller.scrollTop = list.current.getItemOffset(index)
    // The answer may grow before the event of this scrolling.
    follow(isWithin(NEAR, placeOf(scroller)))
  }
  const onScroll = (offset: number): void => {
    const scroller = scrollerOf(section)
    if (scroller == null) return
    // virtua updates its own sizes after this event.
    const place = { ...placeOf(scroller), offset }
    const before = last.current
    last.current = place
    // A busy page may learn of a new size long after it has scrolled.
    const isSameSize = place.content === before.content && place.view === before.view
    const isByUser = reader.hasInput() || (isSameSize && isSettled())
    // A wheel of small steps leaves the end, too.
    const isLeft = isByUser && offset < before.offset && !isWithin(EXACT, place)
    if (isLeft) follow(false)
    else if (isWithin(NEAR, place)) follow(true)
    else if (!follows.current) anchor.hold()
    else if (!isByUser) scrollDown(scroller)
  }
  const onResize = (): void => {
    const scroller = scrollerOf(section)
    if (scroller == null) return
    resizedAt.current = performance.now()
    if (follows.current) {
      if (!reader.isPressing()) stay()
      return
    }
    anchor.restore()
    const isEnd = isWithin(EXACT, placeOf(scroller))
    // What was unfolded may need some frames to be drawn.
    if (isEnd && !reader.hasInput()) follow(true)
    else setIsAtEnd(isEnd)
  }
  return { isAtEnd, onScroll, onResize, toEnd, toTurn }
}

function placeOf({ scrollTop: offset, scrollHeight: content, clientHeight: view }: Element): Place {
  return { offset, content, view }
}

/** Whether a place is so near the end of the list, in pixels. */
function isWithin(distance: number, { offset, content, view }: Place): boolean {
  return offset + view >= content - distance
}

function scrollDown(scroller: Element): void {
  scroller.scrollTop = scroller.scrollHeight
}
