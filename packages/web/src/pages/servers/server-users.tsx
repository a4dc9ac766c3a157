import type { UserOfServer } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useCallback, useState } from 'react'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { Fault } from '../../parts/fault.tsx'
import { Icon } from '../../parts/icon.tsx'
import { admin } from '../../state/admin.ts'
import { dayOf } from '../../state/time-text.ts'
import { useLoaded } from '../../state/use-loaded.ts'

export interface ServerUsersProps {
  readonly server: string
}

/** Who is logged in at a server, on demand. It is drawn for admins alone. */
export function ServerUsers({ server }: ServerUsersProps): ReactNode {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details className="log" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        <Icon name="next" />
        <strong>Users</strong>
        <small>who is logged in there</small>
      </summary>
      {isOpen && <Users server={server} />}
    </details>
  )
}

function Users({ server }: ServerUsersProps): ReactNode {
  const read = useCallback(() => admin.serverUsers(server), [server])
  const { value, fault, act } = useLoaded(read)
  return (
    <>
      <Fault fault={fault} />
      {value?.length === 0 && <p className="note">Nobody is logged in there.</p>}
      <ul className="rows" aria-label={`Users of ${server}`}>
        {value?.map((login) => (
          <li key={`${login.principal} ${login.label}`}>
            <div>
              <strong>{login.principal}</strong> <span className="note">{wordsOf(login)}</span>
            </div>
            <ConfirmButton
              label="Disconnect"
              about={`Disconnect ${login.principal}, ${login.label}`}
              confirm="End this login"
              onConfirm={() => void act(() => admin.endServerUser(server, login))}
            />
          </li>
        ))}
      </ul>
    </>
  )
}

function wordsOf({ label, connectedAt, isNeeded }: UserOfServer): string {
  return `${label}, since ${dayOf(connectedAt)}${isNeeded ? '; needs a login again' : ''}`
}
