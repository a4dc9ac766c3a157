import type { ReactNode } from 'react'
import { useState } from 'react'

export interface ConfirmButtonProps {
  readonly label: string
  /** The label for screen readers, which names the thing. */
  readonly about: string
  /** What the button says before it acts. */
  readonly confirm: string
  readonly onConfirm: () => void
}

/** A button for an action that cannot be undone. It asks for a second press. */
export function ConfirmButton({ label, about, confirm, onConfirm }: ConfirmButtonProps): ReactNode {
  const [isAsking, setIsAsking] = useState(false)
  return (
    <button
      type="button"
      className="bad"
      aria-label={isAsking ? `${confirm}: ${about}` : about}
      onClick={({ detail }) => {
        if (isAsking && isDoubleClick(detail)) return
        setIsAsking(!isAsking)
        if (isAsking) onConfirm()
      }}
      onBlur={() => setIsAsking(false)}
    >
      {isAsking ? confirm : label}
    </button>
  )
}

/** Whether a click comes too soon after the one before to be meant. `detail`: of the event. */
export function isDoubleClick(detail: number): boolean {
  return detail > 1
}
