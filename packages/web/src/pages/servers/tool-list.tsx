import type { Tool } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { serverAddress } from '../../state/route.ts'
import { toolCount } from '../../state/server-state.ts'
import { effectOf } from '../../state/tool-effect.ts'

export interface ToolListProps {
  readonly server: string
  readonly tools: readonly Tool[]
  /** Name of the shown tool, with its server. */
  readonly shown: string | undefined
}

/** The tools of a server, which a phone shows on demand. */
export function ToolList({ server, tools, shown }: ToolListProps): ReactNode {
  return (
    <details className="tool-list">
      <summary>{toolCount(tools.length)}</summary>
      <nav aria-label={`Tools of ${server}`}>
        <ul>
          {tools.map((tool) => {
            const { name } = tool
            const own = name.slice(`${server}__`.length)
            return (
              <li key={name}>
                <a
                  className="entry"
                  href={serverAddress(server, own)}
                  aria-current={name === shown ? 'true' : undefined}
                >
                  <span className="cut">{own}</span> <small>{effectOf(tool)}</small>
                </a>
              </li>
            )
          })}
        </ul>
      </nav>
    </details>
  )
}
