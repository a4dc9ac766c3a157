import type { ReactNode } from 'react'

export interface ToolIdProps {
  readonly server: string | undefined
  readonly tool: string | undefined
}

/** A tool by its server and its name. A model may name both in one: `server__tool`. */
export function ToolId({ server, tool }: ToolIdProps): ReactNode {
  const [, prefix, name] = /^([^_]+)__(.+)$/.exec(tool ?? '') ?? []
  const known = server ?? prefix
  return (
    <span className="id">
      {known !== undefined && <b>{known}</b>} {server === undefined ? (name ?? tool) : tool}
    </span>
  )
}
