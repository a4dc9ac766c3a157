import type { ReactNode } from 'react'
import { splitWireName } from '../state/wire-name.ts'

export interface ToolIdProps {
  readonly server: string | undefined
  readonly tool: string | undefined
}

/** A tool by its server and its name. A model may name both in one: `server__tool`. */
export function ToolId({ server, tool }: ToolIdProps): ReactNode {
  const { server: prefix, own } = splitWireName(tool ?? '')
  const known = server ?? prefix
  return (
    <span className="id">
      {known !== undefined && <b>{known}</b>} {server === undefined ? own : tool}
    </span>
  )
}
