import type { Principal } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useState } from 'react'
import { login } from '../../state/login.ts'
import { useStore } from '../../state/store.ts'
import { PageFrame } from '../../parts/page-frame.tsx'
import { ConnectionsSection } from './connections-section.tsx'
import { KeysSection } from './keys-section.tsx'
import { logOut } from './log-out.ts'
import { UsageSection } from './usage-section.tsx'

/** Who the user is, the keys of the host and what the user's chats have used. */
export function AccountPage(): ReactNode {
  const known = useStore(login)
  if (!('principal' in known)) return <div className="empty" aria-busy="true" />
  const { principal } = known
  return (
    <PageFrame page="account" title="Account">
      <WhoAmI principal={principal} />
      {principal.issuer === 'host' && principal.method === 'session' && (
        <section aria-label="Connected programs">
          <h2>Connected programs</h2>
          <p className="note">MCP clients that you allowed to act for you.</p>
          <a className="button" href="/login/clients">
            Show and disconnect them
          </a>
        </section>
      )}
      <ConnectionsSection />
      <UsageSection principal={principal} />
      <KeysSection principal={principal} />
    </PageFrame>
  )
}

function WhoAmI({ principal }: { readonly principal: Principal }): ReactNode {
  const { id, method, roles, scopes } = principal
  const [fault, setFault] = useState<string>()
  return (
    <section aria-label="Who you are">
      <dl className="facts">
        <dt>You are</dt>
        <dd>{id}</dd>
        <dt>Known by</dt>
        <dd>{originOf(principal)}</dd>
        <dt>Roles</dt>
        <dd>{roles.join(', ') || 'none'}</dd>
        <dt>Scopes</dt>
        <dd>{scopes.join(', ') || 'none'}</dd>
      </dl>
      {method === 'session' && (
        <div>
          <button
            type="button"
            onClick={() => void logOut().catch((error: unknown) => setFault(String(error)))}
          >
            Log out
          </button>
        </div>
      )}
      {fault !== undefined && (
        <p role="alert" className="note bad">
          You are still logged in: {fault}
        </p>
      )}
    </section>
  )
}

/** How the host knows a principal, in words. */
function originOf({ method, issuer }: Principal): string {
  switch (method) {
    case 'none':
      return 'this host, which asks nobody to log in'
    case 'key':
      return 'an API key'
    case 'oidc':
      return `a token of ${issuer}`
    case 'session':
      return issuer === 'host' ? 'a login at this host' : `a login at ${issuer}`
    default:
      return method satisfies never
  }
}
