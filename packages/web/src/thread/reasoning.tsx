import type { ReactNode } from 'react'
import { Icon } from '../parts/icon.tsx'

/** The model's reasoning: its beginning, which opens. */
export function Reasoning(props: { readonly text: string; readonly isOpen: boolean }): ReactNode {
  const { text, isOpen } = props
  return (
    <details className="reasoning">
      <summary>
        <Icon name="next" />
        <span>{isOpen ? 'Thinking' : 'Thoughts'}</span>
        <span className="cut" aria-hidden="true">
          {text.slice(0, MAX_BEGINNING)}
        </span>
      </summary>
      <p>{text}</p>
    </details>
  )
}

const MAX_BEGINNING = 200
