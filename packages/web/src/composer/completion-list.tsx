import type { ReactNode } from 'react'
import type { Choice } from './choices.ts'
import type { CompletionList as List } from './use-completion.ts'

export interface CompletionListProps {
  readonly id: string
  readonly list: List
  readonly onChoose: (choice: Choice) => void
}

/** What can be chosen for the word at the caret. The focus stays in the message. */
export function CompletionList({ id, list, onChoose }: CompletionListProps): ReactNode {
  const { choices, active, note } = list
  return (
    <div className="completion">
      <ul role="listbox" id={id} aria-label="Suggestions">
        {choices.map((choice, index) => (
          <li
            key={choice.id}
            id={optionId(id, index)}
            role="option"
            aria-selected={index === active}
            // The focus would leave the message before the click.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onChoose(choice)}
          >
            <span>{choice.name}</span>
            <small>{choice.about}</small>
          </li>
        ))}
      </ul>
      {note !== undefined && (
        <p role="status" className="note">
          {note}
        </p>
      )}
    </div>
  )
}

/** Id of an option, by which the message names the active one. */
export function optionId(list: string, index: number): string {
  return `${list}-${index}`
}
