import type { RefObject } from 'react'
import { useEffect, useState } from 'react'

/** Whether something is unfolded in an element. */
export function useHasOpen(element: RefObject<HTMLElement | null>): boolean {
  const [hasOpen, setHasOpen] = useState(false)
  useEffect(() => {
    const { current } = element
    const note = (): void => setHasOpen(current?.querySelector('details[open]') != null)
    // Toggles do not bubble.
    current?.addEventListener('toggle', note, true)
    return () => current?.removeEventListener('toggle', note, true)
  }, [element])
  return hasOpen
}
