import type { ReactNode } from 'react'
import { ToolId } from '../parts/tool-id.tsx'
import { servers } from '../state/host-state.ts'
import { models } from '../state/models.ts'
import { useStore } from '../state/store.ts'
import { suggestionsFor } from '../state/suggestions.ts'

export interface FirstStepsProps {
  /** Sends a message. */
  readonly onChoose: (text: string) => void
  /** Whether no message can be sent. */
  readonly isEnded: boolean
  readonly isLoading: boolean
}

/** An empty chat: what can be tried. */
export function FirstSteps({ onChoose, isEnded, isLoading }: FirstStepsProps): ReactNode {
  const known = useStore(models)
  const suggestions = suggestionsFor(useStore(servers) ?? [])
  if (isLoading) return <section className="hello" aria-busy="true" />
  return (
    <section className="hello" aria-label="Begin">
      <div className="hello-body">
        <h2>Ask for something a tool can do.</h2>
        {known?.default?.provider === 'demo' && (
          <p className="lead">
            The built-in demo model answers: no key, no account. It is not a real language model,
            but it really runs the tools.
          </p>
        )}
        <ul className="suggestions" aria-label="Messages to begin with">
          {suggestions.map(({ text, tools }) => (
            <li key={text}>
              <button type="button" disabled={isEnded} onClick={() => onChoose(text)}>
                {text}
                <span className="only-wide" aria-hidden="true">
                  {tools.map(({ server, tool }) => (
                    <ToolId key={tool} server={server} tool={tool} />
                  ))}
                </span>
              </button>
            </li>
          ))}
        </ul>
        <p className="below">
          <a href="#/servers">Tools and servers</a>
        </p>
      </div>
    </section>
  )
}
