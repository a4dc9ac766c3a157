import type { ReactNode } from 'react'
import { useState } from 'react'
import type { Question, ToolItem, ToolProgress, ToolResult } from '../state/turn.ts'
import { pretty } from '../state/pretty.ts'
import { ToolContent } from './tool-content.tsx'

const OUTCOMES: Readonly<
  Record<ToolResult['outcome'], { readonly text: string; readonly tone: string }>
> = {
  ok: { text: 'Done', tone: 'good' },
  error: { text: 'Failed', tone: 'bad' },
  refused: { text: 'Not allowed', tone: 'warn' },
  cancelled: { text: 'Stopped', tone: 'muted' },
  unknown: { text: 'Unknown: it may or may not have taken effect', tone: 'warn' },
}

const WAITS: Readonly<Record<Question['kind'], string>> = {
  approval: 'Waiting for permission',
  elicitation: 'Waiting for your answer',
}

export interface ToolCardProps {
  readonly item: ToolItem
  /** The open question that it waits for. */
  readonly waitsFor: Question['kind'] | undefined
  /** Id of the session. */
  readonly session: string
  /** Absent where the conversation is only read. */
  readonly onStop?: (() => void) | undefined
}

/** A tool call: one line that opens. */
export function ToolCard({ item, waitsFor, session, onStop }: ToolCardProps): ReactNode {
  const { server, tool, arguments: given, progress, result } = item
  return (
    <details className="tool">
      <summary>
        <span className="tool-name">
          {server !== undefined && <span className="server">{server}</span>} {tool}
        </span>
        <State result={result} progress={progress} waitsFor={waitsFor} />
        {result === undefined && waitsFor === undefined && onStop !== undefined && (
          <StopButton onStop={onStop} />
        )}
      </summary>
      <h3>Arguments</h3>
      <pre tabIndex={0}>{pretty(given)}</pre>
      {result !== undefined && <ToolContent result={result} session={session} />}
    </details>
  )
}

/** The answer goes on without the result. */
function StopButton({ onStop }: { readonly onStop: () => void }): ReactNode {
  const [isStopping, setIsStopping] = useState(false)
  return (
    <button
      type="button"
      className="quiet"
      disabled={isStopping}
      onClick={(event) => {
        // It must not open the card.
        event.preventDefault()
        setIsStopping(true)
        onStop()
      }}
    >
      {isStopping ? 'Stopping' : 'Stop this call'}
    </button>
  )
}

function State(props: {
  readonly result?: ToolResult | undefined
  readonly progress?: ToolProgress | undefined
  readonly waitsFor: Question['kind'] | undefined
}): ReactNode {
  const { result, progress, waitsFor } = props
  if (result !== undefined) {
    const { text, tone } = OUTCOMES[result.outcome]
    const time = result.durationMs === undefined ? '' : `, ${duration(result.durationMs)}`
    return <span className={`state ${tone}`}>{`${text}${time}`}</span>
  }
  if (waitsFor !== undefined) return <span className="state warn">{WAITS[waitsFor]}</span>
  if (progress === undefined) return <span className="state pulse">Running</span>
  return (
    <span className="state">
      {progress.message ?? 'Running'}{' '}
      <progress aria-label="Progress" value={progress.progress} max={progress.total ?? undefined} />
    </span>
  )
}

function duration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}
