import type { ServerStatus } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { Mark } from '../../parts/icon.tsx'
import { readHost, servers } from '../../state/host-state.ts'
import { serverAddress } from '../../state/route.ts'
import { stateOf } from '../../state/server-state.ts'
import { useStore } from '../../state/store.ts'
import { useRoles } from '../../state/use-roles.ts'
import { ReloadServers } from '../servers/server-actions.tsx'

/** The MCP servers with their states. `chosen`: name of the shown one; `undefined`: the first. */
export function ServerList({ chosen }: { readonly chosen: string | undefined }): ReactNode {
  const known = useStore(servers)
  const shown = chosen ?? known?.[0]?.server
  const roles = useRoles()
  return (
    <>
      {roles.includes('admin') && (
        <div className="side-tools">
          <ReloadServers onDone={() => void readHost().catch(() => undefined)} />
        </div>
      )}
      <nav className="side-list" aria-label="Servers">
        <ul>
          {known?.map((server) => (
            <ServerEntry key={server.server} server={server} isShown={server.server === shown} />
          ))}
        </ul>
      </nav>
    </>
  )
}

function ServerEntry(props: {
  readonly server: ServerStatus
  readonly isShown: boolean
}): ReactNode {
  const { server, isShown } = props
  const { mark, text } = stateOf(server)
  const why = server.state === 'ready' ? undefined : (server.error ?? server.phase)
  return (
    <li>
      <a
        className="entry"
        href={serverAddress(server.server)}
        aria-current={isShown ? 'page' : undefined}
      >
        <Mark name={mark} />
        <span className="name cut">{server.server}</span>
        <span className={server.state === 'ready' ? 'hidden' : 'meta'}>{text}</span>
        {why !== undefined && (
          <span className={server.state === 'unavailable' ? 'why bad' : 'why'}>{why}</span>
        )}
      </a>
    </li>
  )
}
