import type { ReactNode } from 'react'

export interface ReplayControlsProps {
  /** How many events have happened. */
  readonly step: number
  readonly count: number
  /** Whether it follows the newest event. */
  readonly isLive: boolean
  /** `undefined`: follow the newest event. */
  readonly onStep: (step: number | undefined) => void
}

/** Moves through the events of a session. */
export function ReplayControls({ step, count, isLive, onStep }: ReplayControlsProps): ReactNode {
  return (
    <div className="actions replay" role="group" aria-label="Replay">
      <button type="button" disabled={step === 0} onClick={() => onStep(step - 1)}>
        Back
      </button>
      <input
        type="range"
        aria-label="Step"
        aria-valuetext={`${step} of ${count}`}
        min={0}
        max={count}
        value={step}
        onChange={({ target }) => onStep(Number(target.value))}
      />
      <button type="button" disabled={step === count} onClick={() => onStep(step + 1)}>
        Forward
      </button>
      <span className="note">
        {step} of {count}
      </span>
      <button type="button" aria-pressed={isLive} onClick={() => onStep(undefined)}>
        Follow
      </button>
    </div>
  )
}
