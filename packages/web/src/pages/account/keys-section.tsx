import type { ApiKey, Principal } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { CopyButton } from '../../markdown/copy-button.tsx'
import { admin } from '../../state/admin.ts'
import { dayOf } from '../../state/time-text.ts'
import { useLoaded } from '../../state/use-loaded.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { Fault } from '../../parts/fault.tsx'
import { KeyForm } from './key-form.tsx'

const readKeys = (): Promise<ApiKey[]> => admin.keys()

/** The API keys of the host, for admins. */
export function KeysSection({ principal }: { readonly principal: Principal }): ReactNode {
  return (
    <section aria-label="API keys">
      <h2>API keys</h2>
      {principal.roles.includes('admin') ? (
        <Keys />
      ) : (
        <p className="note">
          Keys are made by admins of this host. Ask one for a key that acts as {principal.id}.
        </p>
      )}
    </section>
  )
}

function Keys(): ReactNode {
  const { value: keys, fault, act } = useLoaded(readKeys)
  const [made, setMade] = useState<{ readonly id: string; readonly key: string }>()
  return (
    <>
      <p className="note">Programs use them as Authorization: Bearer mh_…</p>
      <Fault fault={fault} />
      {made !== undefined && (
        <div className="secret" role="status">
          <p>This is the key. It is shown this once: copy it.</p>
          <code>{made.key}</code>
          <CopyButton text={made.key} />
        </div>
      )}
      {keys?.length === 0 && <p className="note">There is no key yet. Create one below.</p>}
      {keys !== undefined && keys.length > 0 && (
        <ul className="rows" aria-label="API keys">
          {keys.map((key) => (
            <KeyRow
              key={key.id}
              about={key}
              onRevoke={() => {
                if (made?.id === key.id) setMade(undefined)
                void act(() => admin.revokeKey(key.id))
              }}
            />
          ))}
        </ul>
      )}
      <KeyForm
        onCreate={(about) =>
          act(async () => {
            setMade(await admin.createKey(about))
          })
        }
      />
    </>
  )
}

function KeyRow(props: { readonly about: ApiKey; readonly onRevoke: () => void }): ReactNode {
  const { name, id, principal, roles, scopes, createdBy, createdAt, expiresAt } = props.about
  const end = expiresAt === undefined ? 'does not expire' : `until ${dayOf(expiresAt)}`
  return (
    <li>
      <div>
        <strong>{name}</strong> <small>mh_{id}…</small>
        <p className="note">
          acts as {principal}, {roles.join(', ')}; for {scopes.join(', ')}; {end}; by {createdBy},{' '}
          {dayOf(createdAt)}
        </p>
      </div>
      <ConfirmButton
        label="Revoke"
        about={`Revoke ${name}`}
        confirm="Revoke it for ever"
        onConfirm={props.onRevoke}
      />
    </li>
  )
}
