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
  const [login] = logins
  const isGood = login?.isNeeded === false
  return (
    <li>
      <div>
        <strong>{server}</strong> <small>{url}</small>
        <p className="note">
          {login === undefined ? 'You are not logged in there.' : wordsOf(login)}
        </p>
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
          aria-label={`${isGood ? 'Log in again' : 'Connect'}: ${server}`}
        >
          {isGood ? 'Log in again' : 'Connect'}
        </a>
      )}
      {login !== undefined && (
        <ConfirmButton
          label="Disconnect"
          about={`Disconnect ${server}`}
          confirm="End this login"
          onConfirm={() => onEnd(login)}
        />
      )}
    </li>
  )
}

function wordsOf({ issuer, scope, isNeeded, connectedAt }: ServerLogin): string {
  const may = scope === undefined ? '' : `; it may: ${scope.replaceAll(' ', ', ')}`
  const since = `since ${dayOf(connectedAt)}, by ${new URL(issuer).host}${may}`
  return isNeeded ? `Needs a login again. You were logged in ${since}` : `Logged in ${since}`
}
