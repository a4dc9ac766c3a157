import type { Connection, ServerLogin } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { Fault } from '../../parts/fault.tsx'
import { HOST_URL, host } from '../../state/host.ts'
import { dayOf } from '../../state/time-text.ts'
import { useLoaded } from '../../state/use-loaded.ts'
import { usePoll } from '../../state/use-poll.ts'

/** The user logs in on another page, from which this one hears nothing. */
const POLL_MS = 5_000

const readConnections = (): Promise<Connection[]> => host.connections()

/** The logins of the user at MCP servers. Nothing where no server asks for one. */
export function ConnectionsSection(): ReactNode {
  const { value: connections = [], fault, reload, act } = useLoaded(readConnections)
  usePoll(reload, POLL_MS)
  if (connections.length === 0 && fault === undefined) return null
  return (
    <section aria-label="Connections">
      <h2>Connections</h2>
      <p className="note">
        The host calls these servers in your name, for you alone. Tokens are kept encrypted and
        shown to nobody.
      </p>
      <Fault fault={fault} />
      <ul className="rows" aria-label="Connections">
        {connections.map((connection) => (
          <ConnectionRow
            key={connection.server}
            connection={connection}
            onEnd={({ label }) => void act(() => host.endConnection(connection.server, label))}
          />
        ))}
      </ul>
    </section>
  )
}

interface ConnectionRowProps {
  readonly connection: Connection
  readonly onEnd: (login: ServerLogin) => void
}

function ConnectionRow({ connection, onEnd }: ConnectionRowProps): ReactNode {
  const { server, url, connectPath, logins } = connection
  const isGood = logins.some(({ isNeeded }) => !isNeeded)
  return (
    <li>
      <div>
        <strong>{server}</strong> <small>{url}</small>
        {logins.length === 0 && <p className="note">You are not logged in there.</p>}
        {logins.map((login) => (
          <div className="actions" key={login.label}>
            <span className="note">{wordsOf(login, logins.length)}</span>
            <ConfirmButton
              label="Disconnect"
              about={`Disconnect ${server}, ${login.label}`}
              confirm="End this login"
              onConfirm={() => onEnd(login)}
            />
          </div>
        ))}
        {connectPath === undefined && !isGood && (
          <p className="note">
            Nobody can log in there while this host knows its users by API keys alone.
          </p>
        )}
      </div>
      {connectPath !== undefined && (
        <a
          className={isGood ? 'button' : 'button move'}
          href={HOST_URL + connectPath}
          target="_blank"
          rel="noreferrer"
          aria-label={`${isGood ? 'More' : 'Connect'}: ${server}`}
        >
          {isGood ? 'More' : 'Connect'}
        </a>
      )}
    </li>
  )
}

function wordsOf(
  { label, issuer, scope, isNeeded, connectedAt }: ServerLogin,
  count: number,
): string {
  const name = count > 1 ? `${label}: ` : ''
  const may = scope === undefined ? '' : `; it may: ${scope.replaceAll(' ', ', ')}`
  const since = `since ${dayOf(connectedAt)}, by ${new URL(issuer).host}${may}`
  return isNeeded
    ? `${name}needs a login again. You were logged in ${since}`
    : `${name}logged in ${since}`
}
