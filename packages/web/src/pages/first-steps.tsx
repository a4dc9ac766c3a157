import type { ReactNode } from 'react'
import { models } from '../state/models.ts'
import { useStore } from '../state/store.ts'

/** Messages that work with the demo model and the servers of a fresh host. */
const SUGGESTIONS = [
  'list the allowed directories',
  'call get-sum with a = 17 and b = 25',
  'echo the message "Hello from my own host"',
]

export interface FirstStepsProps {
  readonly onChoose: (text: string) => void
  readonly isLoading: boolean
}

/** An empty chat: what can be tried. */
export function FirstSteps({ onChoose, isLoading }: FirstStepsProps): ReactNode {
  const known = useStore(models)
  const preset = known?.default
  if (isLoading) return <section className="empty" aria-busy="true" />
  return (
    <section className="empty" aria-label="Begin">
      <h2>What shall be done?</h2>
      {preset?.provider === 'demo' && (
        <p className="note">
          The built-in demo model answers. It needs no key and understands little. Set a key of a
          provider, as GEMINI_API_KEY, for a real model.
        </p>
      )}
      <ul className="suggestions">
        {SUGGESTIONS.map((text) => (
          <li key={text}>
            <button type="button" onClick={() => onChoose(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
