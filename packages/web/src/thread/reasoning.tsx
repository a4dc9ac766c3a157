import type { ReactNode } from 'react'

/** The model's reasoning, folded. */
export function Reasoning(props: { readonly text: string; readonly isOpen: boolean }): ReactNode {
  return (
    <details className="reasoning">
      <summary>{props.isOpen ? 'Thinking' : 'Thoughts'}</summary>
      <p>{props.text}</p>
    </details>
  )
}
