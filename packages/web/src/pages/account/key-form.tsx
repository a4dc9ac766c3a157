import type { NewApiKey } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { listOf } from '../../state/list-of.ts'

const SCOPES = [
  { scope: 'mcp', about: 'tools' },
  { scope: 'chat', about: 'conversations' },
  { scope: 'decide', about: 'approvals and share links' },
  { scope: 'audit', about: 'the audit log' },
  { scope: 'admin', about: 'administration' },
] as const
type Scope = (typeof SCOPES)[number]['scope']

/** A form for a new key. `onCreate` resolves to whether there is one. */
export function KeyForm({
  onCreate,
}: {
  readonly onCreate: (about: NewApiKey) => Promise<boolean>
}): ReactNode {
  const [name, setName] = useState('')
  const [principal, setPrincipal] = useState('')
  const [roles, setRoles] = useState('user')
  const [scopes, setScopes] = useState<readonly Scope[]>(['mcp', 'chat', 'decide'])
  const [days, setDays] = useState('')
  const create = async (event: React.FormEvent): Promise<void> => {
    event.preventDefault()
    const about = {
      name: name.trim(),
      roles: listOf(roles),
      scopes,
      ...(principal.trim() === '' ? {} : { principal: principal.trim() }),
      ...(days === '' ? {} : { expiresInDays: Number(days) }),
    }
    if (await onCreate(about)) setName('')
  }
  return (
    <form className="fields" aria-label="New key" onSubmit={(event) => void create(event)}>
      <label className="field">
        Name of the key
        <input
          required
          maxLength={100}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </label>
      <fieldset className="actions">
        <legend>It may use</legend>
        {SCOPES.map(({ scope, about }) => (
          <label key={scope}>
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              onChange={({ target }) =>
                setScopes([
                  ...scopes.filter((each) => each !== scope),
                  ...(target.checked ? [scope] : []),
                ])
              }
            />{' '}
            {about}
          </label>
        ))}
      </fieldset>
      <details>
        <summary>Principal, roles and expiry</summary>
        <label className="field">
          Acts as
          <input
            placeholder="key: and its name"
            value={principal}
            onChange={({ target }) => setPrincipal(target.value)}
          />
        </label>
        <label className="field">
          Roles, by commas
          <input value={roles} onChange={({ target }) => setRoles(target.value)} />
        </label>
        <label className="field">
          Expires in days
          <input
            type="number"
            min={1}
            max={3_650}
            placeholder="never"
            value={days}
            onChange={({ target }) => setDays(target.value)}
          />
        </label>
      </details>
      <button type="submit" className="primary" disabled={scopes.length === 0}>
        Create key
      </button>
    </form>
  )
}
