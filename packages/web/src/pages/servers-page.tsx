import type { ChangedTool, HostStatus, ServerStatus, Tool } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { admin } from '../state/admin.ts'
import { host } from '../state/host.ts'
import { login } from '../state/login.ts'
import { useStore } from '../state/store.ts'
import { timeOf } from '../state/time-text.ts'
import { useLoaded } from '../state/use-loaded.ts'
import { usePoll } from '../state/use-poll.ts'
import { ChangedTools } from './servers/changed-tools.tsx'
import { ReloadServers, RestartServer } from './servers/server-actions.tsx'
import { ToolRow } from './tool-row.tsx'

/** Servers come, go and fail while they are looked at. */
const LOOK_MS = 4_000

interface Loaded {
  readonly status: HostStatus
  readonly tools: readonly Tool[]
}

async function read(): Promise<Loaded> {
  const [status, tools] = await Promise.all([host.status(), host.tools()])
  return { status, tools }
}

const readChanged = (): Promise<ChangedTool[]> => admin.changedTools()
/** Changed tools are for admins alone. */
const readNone = async (): Promise<ChangedTool[]> => []

/** The MCP servers with their states, and their tools. */
export function ServersPage(): ReactNode {
  const { value: loaded, fault, reload } = useLoaded(read)
  const known = useStore(login)
  const isAdmin = 'principal' in known && known.principal.roles.includes('admin')
  const changed = useLoaded(isAdmin ? readChanged : readNone)
  const lookAgain = (): void => {
    void reload()
    void changed.reload()
  }
  const servers = loaded?.status.servers ?? []
  usePoll(reload, LOOK_MS)
  return (
    <div className="servers">
      <div className="page-head">
        <h2>Tools and servers</h2>
        <button type="button" onClick={lookAgain}>
          Look again
        </button>
      </div>
      {fault !== undefined && (
        <p role="alert" className="banner bad">
          The servers cannot be shown: {fault.message}
        </p>
      )}
      {isAdmin && (
        <div className="server-section">
          <ReloadServers onDone={lookAgain} />
        </div>
      )}
      {isAdmin && <ChangedTools changed={changed} onAccept={() => void reload()} />}
      {servers.map((server) => (
        <ServerSection
          key={server.server}
          server={server}
          tools={(loaded?.tools ?? []).filter(({ name }) => name.startsWith(`${server.server}__`))}
          onRestart={isAdmin ? lookAgain : undefined}
        />
      ))}
      {loaded !== undefined && servers.length === 0 && (
        <p className="note page-note">No MCP server is there. Add one to mcp.json.</p>
      )}
    </div>
  )
}

const STATES: ReadonlyMap<string, { readonly text: string; readonly tone: string }> = new Map([
  ['ready', { text: 'Ready', tone: 'good' }],
  ['starting', { text: 'Starting', tone: 'warn' }],
  ['unavailable', { text: 'Not available', tone: 'bad' }],
])

function ServerSection(props: {
  readonly server: ServerStatus
  readonly tools: readonly Tool[]
  /** Called after a restart; absent for users who may not restart it. */
  readonly onRestart: (() => void) | undefined
}): ReactNode {
  const { server, tools, onRestart } = props
  const { text, tone } = STATES.get(server.state) ?? { text: server.state, tone: 'muted' }
  return (
    <section className="server-section" aria-label={server.server}>
      <h3>
        {server.server} <span className={`state ${tone}`}>{text}</span>
      </h3>
      <p className="note">{historyOf(server)}</p>
      {server.error !== undefined && <p className="note bad">{server.error}</p>}
      {server.output !== undefined && server.output.length > 0 && (
        <pre tabIndex={0} aria-label={`Output of ${server.server}`}>
          {server.output.join('\n')}
        </pre>
      )}
      {onRestart !== undefined && <RestartServer server={server.server} onDone={onRestart} />}
      {tools.map((tool) => (
        <ToolRow key={tool.name} tool={tool} prefix={`${server.server}__`} />
      ))}
    </section>
  )
}

/** Since when a server is in its state, and how often it was restarted, in words. */
function historyOf({ since, phase, instances = [] }: ServerStatus): string {
  const restarts = instances.reduce((sum, each) => sum + (each.restarts ?? 0), 0)
  const parts = [
    ...(phase === undefined ? [] : [phase]),
    ...(since === undefined ? [] : [`since ${timeOf(since)}`]),
    ...(instances.length > 1 ? [`at ${instances.length} supervisors`] : []),
    ...(restarts === 0 ? [] : [`restarted ${restarts} times`]),
  ]
  return parts.join(', ')
}
