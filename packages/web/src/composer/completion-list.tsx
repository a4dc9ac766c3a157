import type { ReactNode } from 'react'
import { ToolId } from '../parts/tool-id.tsx'
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
            className="option"
            id={optionId(id, index)}
            role="option"
            aria-selected={index === active}
            // The focus would leave the message before the click.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onChoose(choice)}
          >
            {'prompt' in choice ? (
              <ToolId server={undefined} tool={choice.name} />
            ) : (
              <span className="id">{choice.name}</span>
            )}
            <small className="cut">{choice.about}</small>
          </li>
        ))}
      </ul>
      {choices.length > 0 && (
        <p className="hint" aria-hidden="true">
          <span>
            <kbd>↑</kbd> <kbd>↓</kbd> choose
          </span>
          <span>
            <kbd>Enter</kbd> put it in
          </span>
          <span>
            <kbd>Esc</kbd> close
          </span>
        </p>
      )}
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
