import { useEffectEvent, useLayoutEffect } from 'react'
import type { Shortcut } from './shortcuts.ts'
import { isPressed } from './shortcuts.ts'

/** Acts when a shortcut is pressed anywhere in the page. */
export function useShortcut(shortcut: Shortcut, act: () => void): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || !isPressed(event, shortcut)) return
    event.preventDefault()
    act()
  })
  // As soon as the page is shown.
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent): void => onKey(event)
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
}
