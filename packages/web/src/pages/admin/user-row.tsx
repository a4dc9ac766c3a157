import type { Account, Invitation } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { Mark } from '../../parts/icon.tsx'
import { admin } from '../../state/admin.ts'
import { dayOf } from '../../state/time-text.ts'
import type { Loaded } from '../../state/use-loaded.ts'
import { listOf } from '../../state/list-of.ts'

const STATES = {
  invited: { text: 'Invited', mark: 'queued' },
  active: { text: 'Active', mark: 'ready' },
  disabled: { text: 'Disabled', mark: 'off' },
} as const

interface UserRowProps {
  readonly account: Account
  readonly act: Loaded<unknown>['act']
  readonly onInvited: (invitation: Invitation) => void
}

/** A user, and what an admin may do with it. */
export function UserRow({ account, act, onInvited }: UserRowProps): ReactNode {
  const { name, roles, state, createdBy, createdAt } = account
  const { text, mark } = STATES[state]
  const change = (changes: Parameters<typeof admin.changeAccount>[1]): void =>
    void act(() => admin.changeAccount(name, changes))
  return (
    <li>
      <div>
        <strong>{name}</strong>{' '}
        <span className="muted">
          <Mark name={mark} /> {text}
        </span>
        <p className="note">
          by {createdBy}, {dayOf(createdAt)}
        </p>
        <Roles name={name} roles={roles} onChange={(next) => change({ roles: next })} />
      </div>
      <div className="actions">
        <button
          type="button"
          aria-label={`New link for ${name}`}
          onClick={() => void act(async () => onInvited(await admin.inviteAccount(name)))}
        >
          New link
        </button>
        <button
          type="button"
          aria-label={`Log out ${name}`}
          onClick={() => change({ signOut: true })}
        >
          Log out
        </button>
        {state === 'disabled' ? (
          <button
            type="button"
            aria-label={`Enable ${name}`}
            onClick={() => change({ disabled: false })}
          >
            Enable
          </button>
        ) : (
          <ConfirmButton
            label="Disable"
            about={`Disable ${name}`}
            confirm="End its logins and tokens"
            onConfirm={() => change({ disabled: true })}
          />
        )}
      </div>
    </li>
  )
}

interface RolesProps {
  readonly name: string
  readonly roles: readonly string[]
  readonly onChange: (roles: readonly string[]) => void
}

function Roles({ name, roles, onChange }: RolesProps): ReactNode {
  const [text, setText] = useState(roles.join(', '))
  const isSame = listOf(text).join() === roles.join()
  return (
    <form
      className="actions"
      onSubmit={(event) => {
        event.preventDefault()
        onChange(listOf(text))
      }}
    >
      <label>
        Roles{' '}
        <input
          aria-label={`Roles of ${name}`}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </label>
      {!isSame && (
        <button type="submit" aria-label={`Save the roles of ${name}`}>
          Save
        </button>
      )}
    </form>
  )
}
