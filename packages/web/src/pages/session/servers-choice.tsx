import type { ServerStatus } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { Fault } from '../../parts/fault.tsx'
import { host } from '../../state/host.ts'
import { useLoaded } from '../../state/use-loaded.ts'

export interface ServersChoiceProps {
  /** Names of the chosen servers; `undefined`: all, also later ones. */
  readonly value: readonly string[] | undefined
  readonly onChange: (servers: readonly string[] | undefined) => void
}

/** The limit of the host. */
const MAX_CHOSEN = 256

const read = async (): Promise<readonly ServerStatus[]> => (await host.status()).servers ?? []

/** The MCP servers whose tools a chat may use. */
export function ServersChoice({ value, onChange }: ServersChoiceProps): ReactNode {
  const { value: loaded, fault } = useLoaded(read)
  const servers = loaded ?? []
  const known = servers.map(({ server }) => server)
  // A chosen server may have left `mcp.json`.
  const names = Array.from(new Set([...known, ...(value ?? [])]))
  return (
    <fieldset className="field">
      <legend>Tools that the chat may use</legend>
      <Fault fault={fault} />
      <label>
        <input
          type="checkbox"
          checked={value === undefined}
          // Until they are known, none could be chosen.
          disabled={loaded === undefined}
          onChange={({ target }) =>
            onChange(target.checked ? undefined : known.slice(0, MAX_CHOSEN))
          }
        />{' '}
        Those of all servers
      </label>
      {value !== undefined &&
        names.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={value.includes(name)}
              onChange={({ target }) => {
                const others = value.filter((each) => each !== name)
                onChange(target.checked ? [...others, name] : others)
              }}
            />{' '}
            {name} <small>{noteOf(servers.find(({ server }) => server === name))}</small>
          </label>
        ))}
    </fieldset>
  )
}

function noteOf(server: ServerStatus | undefined): string {
  if (server === undefined) return 'not in mcp.json'
  return server.state === 'ready' ? '' : server.state
}
