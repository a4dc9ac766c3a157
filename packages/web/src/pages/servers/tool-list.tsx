import type { Tool } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { serverAddress } from '../../state/route.ts'

export interface ToolListProps {
  readonly server: string
  readonly tools: readonly Tool[]
  /** Name of the shown tool, with its server. */
  readonly shown: string | undefined
}

/** The tools of a server, which a phone shows on demand. */
export function ToolList({ server, tools, shown }: ToolListProps): ReactNode {
  const count = tools.length === 1 ? '1 tool' : `${tools.length} tools`
  return (
    <details className="tool-list">
      <summary>{count}</summary>
      <nav aria-label={`Tools of ${server}`}>
        <ul>
          {tools.map(({ name }) => {
            const own = name.slice(`${server}__`.length)
            return (
              <li key={name}>
                <a
                  className="entry"
                  href={serverAddress(server, own)}
                  aria-current={name === shown ? 'true' : undefined}
                >
                  {own}
                </a>
              </li>
            )
          })}
        </ul>
      </nav>
    </details>
  )
}
