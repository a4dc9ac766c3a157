import type { ReactNode } from 'react'
import { ToolId } from '../parts/tool-id.tsx'
import { servers } from '../state/host-state.ts'
import { models } from '../state/models.ts'
import { useStore } from '../state/store.ts'

/** Messages that work with the demo model and the servers of a fresh host. */
const SUGGESTIONS = [
  {
    text: 'list the allowed directories',
    server: 'filesystem',
    tool: 'list_allowed_directories',
  },
  { text: 'call get-sum with a = 17 and b = 25', server: 'everything', tool: 'get-sum' },
  { text: 'echo the message "Hello from my own host"', server: 'everything', tool: 'echo' },
]

export interface FirstStepsProps {
  readonly onChoose: (text: string) => void
  readonly isLoading: boolean
}

/** An empty chat: what can be tried. */
export function FirstSteps({ onChoose, isLoading }: FirstStepsProps): ReactNode {
  const known = useStore(models)
  const present = useStore(servers)
  const isPresent = (name: string): boolean =>
    present === undefined ||
    present.some(({ server, state }) => server === name && state !== 'unavailable')
  const fitting = SUGGESTIONS.filter(({ server }) => isPresent(server))
  if (isLoading) return <section className="hello" aria-busy="true" />
  return (
    <section className="hello" aria-label="Begin">
      <div className="hello-body">
        <h2>Ask for something a tool can do.</h2>
        {known?.default?.provider === 'demo' && (
          <p className="lead">
            The demo model answers: no key, no account. It understands little, but it really runs
            the tools.
          </p>
        )}
        {fitting.length > 0 && (
          <ul className="suggestions">
            {fitting.map(({ text, server, tool }) => (
              <li key={text}>
                <button type="button" onClick={() => onChoose(text)}>
                  {text}
                  <span className="only-wide" aria-hidden="true">
                    <ToolId server={server} tool={tool} />
                  </span>
                </button>
              </li>
            ))}
          </ul>
        )}
        <p className="below">
          <a href="#/servers">Tools and servers</a>
        </p>
      </div>
    </section>
  )
}
