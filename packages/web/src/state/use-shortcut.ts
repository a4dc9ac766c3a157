import { useEffectEvent, useLayoutEffect } from 'react'
import type { Shortcut } from './shortcuts.ts'
import { isPressed } from './shortcuts.ts'
import { hasSingleKeys } from './single-keys.ts'

/** Acts when a shortcut is pressed anywhere in the page. */
export function useShortcut(shortcut: Shortcut, act: () => void): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || !isPressed(event, shortcut)) return
    if (shortcut.isSingle === true && (!hasSingleKeys() || isTaken(event.target))) return
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

/** Whether a single key is for a field or an open dialog. */
function isTaken(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open]') !== null) return true
  if (!(target instanceof HTMLElement)) return false
  return target.matches('input, textarea, select') || target.isContentEditable
}
