import type { ReactNode } from 'react'
import { useEffect, useState } from 'react'
import type { ChatSession } from '../state/chat-session.ts'
import { focusMessage } from '../parts/focus-message.ts'
import { isPressed, SHORTCUTS } from '../state/shortcuts.ts'
import { useRunningTurn } from '../state/use-running-turn.ts'

/** So soon after the first press the second one stops the answer. */
const SECOND_MS = 2_000
/** What Escape closes, or clears, by itself. */
const OPEN = 'dialog[open], :popover-open'
const OWN_ESCAPE = 'select, input[type=search]:not(:placeholder-shown)'

/** Escape stops a running answer on the second press, if nothing is open that it closes. */
export function StopByEscape({ session }: { readonly session: ChatSession }): ReactNode {
  const running = useRunningTurn(session)
  /** Id of the turn that a second press stops. */
  const [asked, setAsked] = useState<string>()
  useEffect(() => {
    if (asked === undefined) return undefined
    const timer = setTimeout(() => setAsked(undefined), SECOND_MS)
    return () => clearTimeout(timer)
  }, [asked])
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.repeat || !isPressed(event, SHORTCUTS.escape)) return
      if (closeMenu() || running === undefined || isForOther(event.target)) return
      setAsked(asked === running ? undefined : running)
      if (asked !== running) return
      session.stop(running)
      // The button goes away with the answer.
      if (document.activeElement?.matches('.stop') === true) focusMessage()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [asked, running, session])
  return (
    <p role="status" className="note">
      {asked !== undefined && asked === running && 'Press Esc again to stop the answer'}
    </p>
  )
}

/** Closes a menu from outside of it. Returns whether one was open. */
function closeMenu(): boolean {
  const menu = document.querySelector('details.menu[open]')
  menu?.removeAttribute('open')
  return menu !== null
}

function isForOther(target: EventTarget | null): boolean {
  if (document.querySelector(OPEN) !== null) return true
  return target instanceof Element && target.matches(OWN_ESCAPE)
}
