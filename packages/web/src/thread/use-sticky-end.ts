import type { RefObject } from 'react'
import { useEffect, useRef, useState } from 'react'
import type { VListHandle } from 'virtua'

/** So near the end counts as at the end, in pixels. */
const NEAR = 48
/** Scrolling so soon after an input is the user's, in ms. */
const INPUT_MS = 500
/** So long after its last change of size, content moves no more by itself, in ms. */
const SETTLED_MS = 300
const INPUTS = ['wheel', 'touchmove', 'keydown', 'focusin'] as const

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
 * Keeps the end of a list in view until the user scrolls up. Content that becomes shorter and longer again moves the
 * list as well, so that scrolling counts only after an input, or while the content keeps its size: a search of the browser
 * and the wheel over a frame are no inputs of this page. `scrollTo` and `scrollToIndex` of virtua are not used: they scroll
 * again at each growth of an answer.
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
  const hasInput = useRecentInput(section)
  const isSettled = (): boolean => performance.now() - resizedAt.current > SETTLED_MS
  const follow = (isWanted: boolean): void => {
    follows.current = isWanted
    setIsAtEnd(isWanted)
  }
  const toEnd = (): void => {
    follow(true)
    scrollDown(section)
  }
  const toTurn = (index: number): void => {
    const scroller = scrollerOf(section)
    if (scroller == null || list.current === null) return
    scroller.scrollTop = list.current.getItemOffset(index)
    // The answer may grow before the event of this scrolling.
    const { scrollTop: offset, scrollHeight: content, clientHeight: view } = scroller
    follow(isWithin(NEAR, { offset, content, view }))
  }
  const onScroll = (offset: number): void => {
    const scroller = scrollerOf(section)
    if (scroller == null) return
    // virtua updates its own sizes after this event.
    const { scrollHeight: content, clientHeight: view } = scroller
    const before = last.current
    last.current = { offset, content, view }
    // A busy page may learn of a new size long after it has scrolled.
    const isSameSize = content === before.content && view === before.view
    const isByUser = hasInput() || (isSameSize && isSettled())
    // A wheel of small steps leaves the end, too.
    const isLeft = isByUser && offset < before.offset && !isWithin(1, last.current)
    if (isLeft) follow(false)
    else if (isWithin(NEAR, last.current)) follow(true)
    else if (!isByUser && follows.current) scrollDown(section)
  }
  const onResize = (): void => {
    resizedAt.current = performance.now()
    if (follows.current) scrollDown(section)
  }
  return { isAtEnd, onScroll, onResize, toEnd, toTurn }
}

/** Whether the user has touched the list, its keys or its scroll bar a moment ago. */
function useRecentInput(section: RefObject<HTMLElement | null>): () => boolean {
  const at = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    const element = section.current
    if (element === null) return undefined
    const listeners = new AbortController()
    const options = { passive: true, signal: listeners.signal }
    const note = (): void => {
      at.current = performance.now()
    }
    for (const input of INPUTS) element.addEventListener(input, note, options)
    const press = ({ target }: Event): void => {
      if (target === scrollerOf(section)) at.current = Number.POSITIVE_INFINITY
    }
    element.addEventListener('pointerdown', press, options)
    const release = (): void => {
      if (at.current === Number.POSITIVE_INFINITY) note()
    }
    for (const end of ['pointerup', 'pointercancel']) addEventListener(end, release, options)
    return () => listeners.abort()
  }, [section])
  return () => performance.now() - at.current < INPUT_MS
}

/** Whether a place is so near the end of the list, in pixels. */
function isWithin(distance: number, { offset, content, view }: Place): boolean {
  return offset + view >= content - distance
}

function scrollerOf(section: RefObject<HTMLElement | null>): Element | null | undefined {
  return section.current?.querySelector('.turns')
}

function scrollDown(section: RefObject<HTMLElement | null>): void {
  const scroller = scrollerOf(section)
  if (scroller != null) scroller.scrollTop = scroller.scrollHeight
}
