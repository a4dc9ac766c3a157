import type { Connection, LoginChange, ServerLogin } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { Fault } from '../../parts/fault.tsx'
import { onEscape } from '../../parts/on-escape.ts'
import { HOST_URL, host } from '../../state/host.ts'
import { TokenForm } from './token-form.tsx'
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
            onChange={({ label }, change) =>
              void act(() => host.changeConnection(connection.server, label, change))
            }
            onEnd={({ label }) => void act(() => host.endConnection(connection.server, label))}
            onToken={(label, token) => {
              const tokens = { access_token: token }
              void act(() => host.bringConnection(connection.server, label, tokens))
            }}
          />
        ))}
      </ul>
    </section>
  )
}

interface ConnectionRowProps {
  readonly connection: Connection
  readonly onChange: (login: ServerLogin, change: LoginChange) => void
  readonly onEnd: (login: ServerLogin) => void
  readonly onToken: (label: string, token: string) => void
}

function ConnectionRow(props: ConnectionRowProps): ReactNode {
  const { connection, onChange, onEnd, onToken } = props
  const { server, url, connectPath, logins } = connection
  const isGood = logins.some(({ isNeeded }) => !isNeeded)
  const known = isGood ? 'Add or renew a login' : 'Log in again'
  const action = logins.length === 0 ? 'Connect' : known
  return (
    <li>
      <div>
        <strong>{server}</strong> <small>{url}</small>
        {logins.length === 0 && <p className="note">You are not logged in there.</p>}
        {logins.map((login) => (
          <LoginRow
            key={login.label}
            server={server}
            login={login}
            isAlone={logins.length === 1}
            onChange={(change) => onChange(login, change)}
            onEnd={() => onEnd(login)}
          />
        ))}
        <TokenForm server={server} onToken={onToken} />
      </div>
      {connectPath !== undefined && (
        <a
          className={isGood ? 'button' : 'button move'}
          href={HOST_URL + connectPath}
          target="_blank"
          rel="noreferrer"
          aria-label={`${action}: ${server}`}
        >
          {action}
        </a>
      )}
    </li>
  )
}

interface LoginRowProps {
  readonly server: string
  readonly login: ServerLogin
  /** Whether the user has no other login there. */
  readonly isAlone: boolean
  readonly onChange: (change: LoginChange) => void
  readonly onEnd: () => void
}

function LoginRow({ server, login, isAlone, onChange, onEnd }: LoginRowProps): ReactNode {
  const [isRenaming, setRenaming] = useState(false)
  const { label, isDefault } = login
  if (isRenaming) {
    const rename = (name: string): void => {
      if (name !== '' && name !== label) onChange({ label: name })
      setRenaming(false)
    }
    return <LabelEditor label={label} onDone={rename} />
  }
  return (
    <div className="login">
      <span className="note">{wordsOf(login, isAlone)}</span>
      <div className="actions">
        {!isAlone && !isDefault && (
          <button
            type="button"
            aria-label={`Use by default: ${server}, ${label}`}
            onClick={() => onChange({ isDefault: true })}
          >
            Use by default
          </button>
        )}
        <button
          type="button"
          aria-label={`Rename ${server}, ${label}`}
          onClick={() => setRenaming(true)}
        >
          Rename
        </button>
        <ConfirmButton
          label="Disconnect"
          about={`Disconnect ${server}, ${label}`}
          confirm="End this login"
          onConfirm={onEnd}
        />
      </div>
    </div>
  )
}

interface LabelEditorProps {
  readonly label: string
  /** Takes the label as it was when the user cancels. */
  readonly onDone: (label: string) => void
}

function LabelEditor({ label, onDone }: LabelEditorProps): ReactNode {
  const [name, setName] = useState(label)
  return (
    <form
      className="actions"
      onSubmit={(event) => {
        event.preventDefault()
        onDone(name.trim())
      }}
    >
      <input
        aria-label="Name of this account"
        value={name}
        autoFocus
        maxLength={60}
        onChange={({ target }) => setName(target.value)}
        onKeyDown={onEscape(() => onDone(label))}
      />
      <button type="submit">Rename</button>
      <button type="button" onClick={() => onDone(label)}>
        Cancel
      </button>
    </form>
  )
}

function wordsOf(
  { label, issuer, scope, isNeeded, isDefault, connectedAt }: ServerLogin,
  isAlone: boolean,
): string {
  const use = isDefault && !isAlone ? `${label} (used by default): ` : `${label}: `
  const name = isAlone && label === 'default' ? '' : use
  const may = scope === undefined ? '' : `, for ${scope.replaceAll(' ', ', ')}`
  const since = `since ${dayOf(connectedAt)} at ${new URL(issuer).host}${may}`
  return isNeeded
    ? `${name}needs a login again. You were logged in ${since}`
    : `${name}logged in ${since}`
}
