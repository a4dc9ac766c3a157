import type { ReactNode } from 'react'

export interface ToolIdProps {
  readonly server: string | undefined
  readonly tool: string | undefined
}

/** A tool by its server and its name. */
export function ToolId({ server, tool }: ToolIdProps): ReactNode {
  return (
    <span className="id">
      {server !== undefined && <b>{server}</b>} {tool}
    </span>
  )
}
