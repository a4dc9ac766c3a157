import type { RefObject } from 'react'

/** The element that scrolls the turns of a conversation. */
export function scrollerOf(section: RefObject<HTMLElement | null>): Element | null | undefined {
  return section.current?.querySelector('.turns')
}
