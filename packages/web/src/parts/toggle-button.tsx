import type { ReactNode } from 'react'

export interface ToggleButtonProps {
  readonly label: string
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
}

/** A quiet button that is on or off. */
export function ToggleButton({ label, isOn, onChange }: ToggleButtonProps): ReactNode {
  return (
    <button
      type="button"
      className="text-button"
      aria-pressed={isOn}
      onClick={() => onChange(!isOn)}
    >
      {label}
    </button>
  )
}
