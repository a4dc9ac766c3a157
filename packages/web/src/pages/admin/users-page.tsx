import type { Account, Invitation } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { CopyButton } from '../../markdown/copy-button.tsx'
import { Fault } from '../../parts/fault.tsx'
import { isNotHere, NotHere } from '../../parts/not-here.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { admin } from '../../state/admin.ts'
import { timeOf } from '../../state/time-text.ts'
import { useLoaded } from '../../state/use-loaded.ts'
import { listOf } from '../../state/list-of.ts'
import { UserRow } from './user-row.tsx'

const readAccounts = (): Promise<Account[]> => admin.accounts()

/** The users of a host with accounts of its own. */
export function UsersPage(): ReactNode {
  return (
    <PageFrame page="users" title="Users">
      <Users />
    </PageFrame>
  )
}

type Invited = Invitation & { readonly name: string }

function Users(): ReactNode {
  const loaded = useLoaded(readAccounts)
  const { value: accounts, fault, act } = loaded
  const [invited, setInvited] = useState<Invited>()
  if (isNotHere(fault) && accounts === undefined) {
    return (
      <NotHere title="This host has no accounts of its own.">
        Set <code>AUTH=local</code>, in <code>.env</code> for <code>npm start</code>, and start it
        again: it prints a link for the first admin, who invites others here.
      </NotHere>
    )
  }
  return (
    <>
      <Fault fault={fault} />
      {invited !== undefined && <Link invited={invited} />}
      {accounts !== undefined && (
        <>
          <ul className="rows" aria-label="Users">
            {accounts.map((account) => (
              <UserRow
                key={account.name}
                account={account}
                act={act}
                onInvited={(invitation) => setInvited({ ...invitation, name: account.name })}
              />
            ))}
          </ul>
          <NewUser
            onCreate={(name, roles) =>
              act(async () => {
                const { invitation } = await admin.createAccount(name, roles)
                setInvited({ ...invitation, name })
              })
            }
          />
        </>
      )}
    </>
  )
}

function Link({ invited }: { readonly invited: Invited }): ReactNode {
  const { name, url, expiresAt } = invited
  return (
    <div className="secret" role="status">
      <p>
        Send this link to {name}, who sets the password there. It is shown this once, and works once
        until {timeOf(expiresAt)}.
      </p>
      <code>{url}</code>
      <CopyButton text={url} />
    </div>
  )
}

function NewUser(props: {
  readonly onCreate: (name: string, roles: readonly string[]) => Promise<boolean>
}): ReactNode {
  const [name, setName] = useState('')
  const [roles, setRoles] = useState('user')
  const create = async (event: React.FormEvent): Promise<void> => {
    event.preventDefault()
    if (await props.onCreate(name.trim(), listOf(roles))) setName('')
  }
  return (
    <form className="fields" aria-label="New user" onSubmit={(event) => void create(event)}>
      <label className="field">
        Name of the user
        <input
          required
          maxLength={64}
          autoCapitalize="none"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </label>
      <label className="field">
        Roles, by commas
        <input value={roles} onChange={({ target }) => setRoles(target.value)} />
        <small>user, auditor, admin, or names that the policy uses</small>
      </label>
      <button type="submit" className="primary">
        Invite
      </button>
    </form>
  )
}
