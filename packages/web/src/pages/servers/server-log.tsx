import type { ServerOutput, ServerStatus } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useCallback, useState } from 'react'
import { Fault } from '../../parts/fault.tsx'
import { Icon } from '../../parts/icon.tsx'
import { admin } from '../../state/admin.ts'
import { useLoaded } from '../../state/use-loaded.ts'
import { usePoll } from '../../state/use-poll.ts'

export interface ServerLogProps {
  readonly server: ServerStatus
  /** Pause between two reads. */
  readonly pauseMs: number
}

/** The last lines that a server wrote, on demand. Only admins may read them, so it is drawn for admins alone. */
export function ServerLog({ server, pauseMs }: ServerLogProps): ReactNode {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details className="log" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        <Icon name="next" />
        <strong>Log</strong>
        <small>standard error of the process, newest last</small>
      </summary>
      {isOpen && <Lines server={server} pauseMs={pauseMs} />}
    </details>
  )
}

function Lines({ server: { server, output }, pauseMs }: ServerLogProps): ReactNode {
  const read = useCallback(() => admin.serverOutput(server), [server])
  const { value, fault, reload } = useLoaded(read)
  usePoll(reload, pauseMs)
  // A failed server may have been started again, and then the lines of its end are in its state alone.
  const text = output?.join('\n') ?? (value && textOf(value))
  return (
    <>
      <Fault fault={fault} />
      {text === '' && <p className="note">It has written nothing.</p>}
      {text !== undefined && text !== '' && (
        <pre tabIndex={0} aria-label={`Output of ${server}`}>
          {text}
        </pre>
      )}
    </>
  )
}

/** The lines of all supervisors, which are named where there are several. */
function textOf(outputs: readonly ServerOutput[]): string {
  return outputs
    .flatMap(({ supervisor, error, output = [] }) => [
      ...(outputs.length > 1 ? [`${supervisor}:`] : []),
      ...(error === undefined ? output : [error]),
    ])
    .join('\n')
}
