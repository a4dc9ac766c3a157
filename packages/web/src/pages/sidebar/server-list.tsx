import type { ServerStatus } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { Fragment } from 'react'
import { Mark } from '../../parts/icon.tsx'
import { readHost, servers } from '../../state/host-state.ts'
import { serverAddress } from '../../state/route.ts'
import { isBroken, reasonOf, stateOf, toolCount } from '../../state/server-state.ts'
import { useStore } from '../../state/store.ts'
import { useRoles } from '../../state/use-roles.ts'
import { ReloadServers } from '../servers/server-actions.tsx'

/** The MCP servers with their states. `chosen`: name of the shown one; `undefined`: the first. */
export function ServerList({ chosen }: { readonly chosen: string | undefined }): ReactNode {
  const known = useStore(servers)
  const shown = chosen ?? known?.[0]?.server
  const roles = useRoles()
  const [broken = [], working = []] = [true, false].map((is) =>
    (known ?? []).filter((server) => isBroken(server) === is),
  )
  const groups = [
    { title: 'Not working', members: broken },
    { title: 'Others', members: working },
  ]
  return (
    <>
      {roles.includes('admin') && (
        <div className="side-tools">
          <ReloadServers onDone={() => void readHost().catch(() => undefined)} />
        </div>
      )}
      <nav className="side-list" aria-label="Servers">
        {groups.map(
          ({ title, members }) =>
            members.length > 0 && (
              <Fragment key={title}>
                {broken.length > 0 && <h2>{title}</h2>}
                <ul>
                  {members.map((server) => (
                    <ServerEntry
                      key={server.server}
                      server={server}
                      isShown={server.server === shown}
                    />
                  ))}
                </ul>
              </Fragment>
            ),
        )}
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
  const { tools } = server
  // The page of the shown server tells its reason.
  const why = isBroken(server) && !isShown ? reasonOf(server) : undefined
  return (
    <li>
      <a
        className="entry"
        href={serverAddress(server.server)}
        aria-current={isShown ? 'page' : undefined}
      >
        <Mark name={mark} />
        <span className="name cut">{server.server}</span>
        {server.state === 'ready' ? (
          <span className="meta">
            <span className="hidden">{text}, </span>
            {tools !== undefined && toolCount(tools)}
          </span>
        ) : (
          <span className="meta">{text}</span>
        )}
        {why !== undefined && <span className="why bad">{why}</span>}
      </a>
    </li>
  )
}
