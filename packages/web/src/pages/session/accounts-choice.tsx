import type { Connection } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { Fault } from '../../parts/fault.tsx'
import { host } from '../../state/host.ts'
import { useLoaded } from '../../state/use-loaded.ts'

type Accounts = Readonly<Record<string, string>>

export interface AccountsChoiceProps {
  /** The labels of the chosen logins by server. A server without one has the default login of the user. */
  readonly value: Accounts
  readonly onChange: (accounts: Accounts) => void
}

const read = (): Promise<Connection[]> => host.connections()

/** Which of several logins at MCP servers a chat uses. Nothing while there is no choice. */
export function AccountsChoice({ value, onChange }: AccountsChoiceProps): ReactNode {
  const { value: connections = [], fault } = useLoaded(read)
  const chosenAt = new Map(Object.entries(value))
  const choices = connections.flatMap(({ server, logins }) => {
    const chosen = chosenAt.get(server)
    const labels = new Set([...logins.map(({ label }) => label), ...(chosen ? [chosen] : [])])
    return labels.size > 1 || chosen ? [{ server, chosen, labels: Array.from(labels) }] : []
  })
  if (choices.length === 0) return <Fault fault={fault} />
  return (
    <fieldset className="field">
      <legend>Accounts that the chat uses</legend>
      {choices.map(({ server, chosen, labels }) => (
        <label key={server}>
          {server}{' '}
          <select
            value={chosen ?? ''}
            onChange={({ target }) => {
              const { [server]: _, ...others } = value
              onChange(target.value === '' ? others : { ...others, [server]: target.value })
            }}
          >
            <option value="">the default account</option>
            {labels.map((label) => (
              <option key={label}>{label}</option>
            ))}
          </select>
        </label>
      ))}
    </fieldset>
  )
}
