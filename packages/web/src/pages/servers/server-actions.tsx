import type { SupervisorOutcome } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useRef, useState } from 'react'
import { admin } from '../../state/admin.ts'
import { Fault } from '../../parts/fault.tsx'
import { Icon } from '../../parts/icon.tsx'
import { SHORTCUTS } from '../../state/shortcuts.ts'
import { useShortcut } from '../../state/use-shortcut.ts'

interface ActionProps {
  readonly label: string
  /** The label for screen readers, where the other one says less. */
  readonly about?: string
  readonly run: () => Promise<readonly SupervisorOutcome[]>
  readonly describe: (outcome: SupervisorOutcome) => string
  /** Called after it. */
  readonly onDone: () => void
}

/** A button that acts at supervisors, and what it did at each of them. */
function ServerAction({ label, about, run, describe, onDone }: ActionProps): ReactNode {
  const [isRunning, setIsRunning] = useState(false)
  const [outcomes, setOutcomes] = useState<readonly SupervisorOutcome[]>([])
  const [fault, setFault] = useState<Error>()
  const act = async (): Promise<void> => {
    setIsRunning(true)
    setFault(undefined)
    setOutcomes([])
    try {
      setOutcomes(await run())
    } catch (error) {
      setFault(error instanceof Error ? error : new Error(String(error)))
    } finally {
      setIsRunning(false)
      onDone()
    }
  }
  return (
    <div className="actions">
      <button type="button" aria-label={about} disabled={isRunning} onClick={() => void act()}>
        <Icon name="again" />
        {label}
      </button>
      <span role="status" className="note">
        {isRunning && 'Calls in flight may end first.'}
        {outcomes.map((outcome) => (
          <span
            key={outcome.supervisor}
            className={outcome.error === undefined ? undefined : 'bad'}
          >
            {outcome.error ?? describe(outcome)}{' '}
          </span>
        ))}
      </span>
      <Fault fault={fault} />
    </div>
  )
}

export interface RestartServerProps {
  readonly server: string
  readonly onDone: () => void
}

/** Restarts a server by a click; R goes to the button and asks for Enter. */
export function RestartServer({ server, onDone }: RestartServerProps): ReactNode {
  const place = useRef<HTMLDivElement>(null)
  const [isAsking, setIsAsking] = useState(false)
  const end = (): void => setIsAsking(false)
  useShortcut(SHORTCUTS.restart, () => {
    const button = place.current?.querySelector<HTMLElement>('button:enabled')
    button?.focus()
    setIsAsking(button != null)
  })
  return (
    <div ref={place} className="actions" onBlur={end} onClick={end}>
      <span role="status" className="note">
        {isAsking && 'Press Enter to restart it.'}
      </span>
      <ServerAction
        label="Restart"
        about={`Restart ${server}`}
        run={() => admin.restartServer(server)}
        describe={() => 'It was restarted.'}
        onDone={onDone}
      />
    </div>
  )
}

export function ReloadServers({ onDone }: Pick<RestartServerProps, 'onDone'>): ReactNode {
  return (
    <ServerAction
      label="Read mcp.json again"
      run={() => admin.reloadServers()}
      describe={changesOf}
      onDone={onDone}
    />
  )
}

/** What a reload changed, in words. */
function changesOf({ added, changed, removed }: SupervisorOutcome): string {
  const parts = Object.entries({ added, changed, removed }).flatMap(([how, names = []]) =>
    names.length === 0 ? [] : [`${how} ${names.join(', ')}`],
  )
  return parts.length === 0 ? 'Nothing has changed.' : `${parts.join('; ')}.`
}
