import type { ChangedTool } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { admin } from '../../state/admin.ts'
import { diffLines } from '../../state/diff-lines.ts'
import { useLoaded } from '../../state/use-loaded.ts'
import { usePoll } from '../../state/use-poll.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { Fault } from '../../parts/fault.tsx'
import { Mark } from '../../parts/icon.tsx'
import { ToolId } from '../../parts/tool-id.tsx'

const readChanged = (): Promise<ChangedTool[]> => admin.changedTools()

export interface ChangedToolsProps {
  /** Name of the server whose tools are shown. */
  readonly server: string
  /** Pause between two reads. */
  readonly pauseMs: number
  /** Called after a change was accepted: other tools may be there. */
  readonly onAccept: () => void
}

/** Tools whose definition has changed since it was recorded. Only admins may read them, so it is drawn for admins alone. */
export function ChangedTools({ server, pauseMs, onAccept }: ChangedToolsProps): ReactNode {
  const { value = [], fault, reload, act } = useLoaded(readChanged)
  usePoll(reload, pauseMs)
  const tools = value.filter((tool) => tool.server === server)
  if (fault === undefined && tools.length === 0) return null
  return (
    <section className="changes" aria-label="Changed tools">
      <h2>Changed tools</h2>
      <p className="note">
        The definitions of these tools have changed since they were recorded. Where the policy says
        quarantine, they are hidden and refused until you accept the change.
      </p>
      <Fault fault={fault} />
      {tools.map((tool) => (
        <Change
          key={`${tool.server} ${tool.tool}`}
          changed={tool}
          onAccept={() => void act(() => admin.acceptTool(tool.server, tool.tool)).then(onAccept)}
        />
      ))}
    </section>
  )
}

function Change(props: {
  readonly changed: ChangedTool
  readonly onAccept: () => void
}): ReactNode {
  const { server, tool, pinned, current } = props.changed
  const name = `${server}.${tool}`
  return (
    <article className="card" aria-label={name}>
      <header className="card-head">
        <Mark name="changed" />
        <ToolId server={server} tool={tool} />
        <span className="end" />
        <ConfirmButton
          label="Accept the change"
          about={`Accept the change of ${name}`}
          confirm="I have read it: accept"
          onConfirm={props.onAccept}
        />
      </header>
      {pinned === undefined && <p className="note">No earlier definition is stored.</p>}
      <pre className="diff" tabIndex={0} aria-label={`Difference of ${name}`}>
        {diffLines(readable(pinned ?? ''), readable(current)).map(({ kind, text }, index) => (
          // The lines of a difference never move.
          <span key={index} className={kind}>
            {`${SIGNS[kind]} ${text}\n`}
          </span>
        ))}
      </pre>
    </article>
  )
}

const SIGNS = { same: ' ', removed: '−', added: '+' } as const

/** JSON with a line for each field. */
function readable(json: string): string {
  return json === '' ? '' : JSON.stringify(JSON.parse(json), undefined, 2)
}
