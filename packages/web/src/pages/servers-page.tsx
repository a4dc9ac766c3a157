import type { ServerStatus, Tool } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { FileFaults } from '../parts/file-faults.tsx'
import { Mark } from '../parts/icon.tsx'
import { PageBar } from '../parts/page-bar.tsx'
import { host } from '../state/host.ts'
import { readHost, servers } from '../state/host-state.ts'
import { readingsOf, stateOf } from '../state/server-state.ts'
import { useStore } from '../state/store.ts'
import { useLoaded } from '../state/use-loaded.ts'
import { useRoles } from '../state/use-roles.ts'
import { usePoll } from '../state/use-poll.ts'
import { ChangedTools } from './servers/changed-tools.tsx'
import { RestartServer } from './servers/server-actions.tsx'
import { ServerLog } from './servers/server-log.tsx'
import { ServerUsers } from './servers/server-users.tsx'
import { ToolList } from './servers/tool-list.tsx'
import { ToolPage } from './servers/tool-page.tsx'

/** Servers come, go and fail while they are looked at. */
const LOOK_MS = 4_000

/** The files that say which servers and models there are. */
const SERVER_FILES = ['MCP_JSON_PATH', 'BUNDLES_CONFIG', 'LLM_CONFIG']

async function read(): Promise<readonly Tool[]> {
  const [tools] = await Promise.all([host.tools(), readHost()])
  return tools
}

export interface ServersPageProps {
  /** Names of what is shown; without them the first ones. */
  readonly server: string | undefined
  readonly tool: string | undefined
}

/** An MCP server: its state, its tools, one of them, and what it wrote. */
export function ServersPage({ server: wanted, tool: wantedTool }: ServersPageProps): ReactNode {
  const { value: tools, fault, reload } = useLoaded(read)
  const known = useStore(servers)
  const isAdmin = useRoles().includes('admin')
  usePoll(reload, LOOK_MS)
  const server = wanted === undefined ? known?.[0] : known?.find((each) => each.server === wanted)
  const name = server?.server ?? wanted ?? ''
  const prefix = `${name}__`
  const own = (tools ?? []).filter((each) => each.name.startsWith(prefix))
  const tool =
    wantedTool === undefined ? own[0] : own.find((each) => each.name === prefix + wantedTool)
  return (
    <section className="server" aria-label={name}>
      <PageBar
        title={name === '' ? 'Servers' : name}
        state={server !== undefined && <ServerState server={server} />}
      >
        {isAdmin && server !== undefined && (
          <RestartServer key={name} server={name} onDone={() => void reload()} />
        )}
      </PageBar>
      {isAdmin && <FileFaults settings={SERVER_FILES} />}
      {fault !== undefined && (
        <p role="alert" className="banner bad">
          The servers cannot be shown: {fault.message}
        </p>
      )}
      {known !== undefined && server === undefined && (
        <p className="empty">
          {wanted === undefined
            ? 'No MCP servers are configured. Add one to mcp.json.'
            : `No server has the name ${wanted}. Choose one of the list.`}
        </p>
      )}
      {server !== undefined && (
        <>
          <Readings server={server} />
          {isAdmin && (
            <ChangedTools server={name} pauseMs={LOOK_MS} onAccept={() => void reload()} />
          )}
          <div className={own.length > 0 ? 'split' : 'split no-list'}>
            {own.length > 0 && <ToolList server={name} tools={own} shown={tool?.name} />}
            <div className="sheet-page tool-page">
              {tool === undefined ? (
                <p className="note">{tools !== undefined && noToolText(server, wantedTool)}</p>
              ) : (
                <ToolPage key={tool.name} tool={tool} prefix={prefix} />
              )}
            </div>
          </div>
          {isAdmin && server.logins !== undefined && <ServerUsers key={name} server={name} />}
          {isAdmin && <ServerLog server={server} pauseMs={LOOK_MS} />}
        </>
      )}
    </section>
  )
}

/** Why no tool is shown. */
function noToolText({ state }: ServerStatus, wanted: string | undefined): string {
  if (state !== 'ready') return 'Tools are listed when the server is ready.'
  if (wanted === undefined) return 'This server has no tools for you.'
  return `This server has no tool ${wanted}. Choose one of the list.`
}

function ServerState({ server }: { readonly server: ServerStatus }): ReactNode {
  const { mark, text } = stateOf(server)
  return (
    <span className="bar-state">
      <Mark name={mark} />
      {text}
    </span>
  )
}

function Readings({ server }: { readonly server: ServerStatus }): ReactNode {
  return (
    <>
      <dl className="readings">
        {readingsOf(server).map(([term, value]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {server.error !== undefined && <p className="banner bad">{server.error}</p>}
    </>
  )
}
