import type { RefObject } from 'react'
import { useEffect, useState } from 'react'

/** Unfolded details, except those within folded ones. */
const UNFOLDED = 'details[open]:not(details:not([open]) *)'

/** Whether something in an element is unfolded, or the focus is within it. Both end when the element leaves the page. */
export function useIsInUse(element: RefObject<HTMLElement | null>): boolean {
  const [hasOpen, setHasOpen] = useState(false)
  const [hasFocus, setHasFocus] = useState(false)
  const isInUse = hasOpen || hasFocus
  useEffect(() => {
    const { current } = element
    if (current === null) return undefined
    const read = (): void => {
      setHasOpen(current.querySelector(UNFOLDED) !== null)
      setHasFocus(current.contains(document.activeElement))
    }
    const enter = (): void => setHasFocus(true)
    const leave = ({ relatedTarget }: FocusEvent): void =>
      setHasFocus(relatedTarget instanceof Node && current.contains(relatedTarget))
    read()
    const observer = new MutationObserver(read)
    // Removed elements send no event of their own. They count only in use: an answer that is written changes all the time.
    observer.observe(current, { subtree: true, childList: isInUse, attributeFilter: ['open'] })
    current.addEventListener('focusin', enter)
    current.addEventListener('focusout', leave)
    return () => {
      observer.disconnect()
      current.removeEventListener('focusin', enter)
      current.removeEventListener('focusout', leave)
    }
  }, [element, isInUse])
  return isInUse
}
