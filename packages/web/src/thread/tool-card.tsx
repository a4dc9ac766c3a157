import type { ReactNode } from 'react'
import { useState } from 'react'
import { CopyButton } from '../markdown/copy-button.tsx'
import type { MarkName } from '../parts/icon.tsx'
import { Icon, Mark } from '../parts/icon.tsx'
import { ToolArguments } from '../parts/tool-arguments.tsx'
import { ToolId } from '../parts/tool-id.tsx'
import { OUTCOME_WORDS } from '../state/outcome-words.ts'
import type { Question, ToolItem, ToolProgress, ToolResult } from '../state/turn.ts'
import { mediaOf, textOfResult } from './block-media.ts'
import { CallFailure } from './call-failure.tsx'
import { ContentBlock } from './content-block.tsx'
import { ToolContent } from './tool-content.tsx'

const OUTCOMES: Readonly<
  Record<
    ToolResult['outcome'],
    {
      readonly mark: MarkName
      /** Whether the mark and the time are not enough. */
      readonly hasText?: true
    }
  >
> = {
  ok: { mark: 'ok' },
  error: { mark: 'failed' },
  refused: { mark: 'refused', hasText: true },
  cancelled: { mark: 'off', hasText: true },
  unknown: { mark: 'unknown', hasText: true },
}

const WAITS: Readonly<Record<Question['kind'], string>> = {
  approval: 'Waiting for permission',
  elicitation: 'Waiting for your answer',
}

export interface ToolCardProps {
  readonly item: ToolItem
  /** The open question that it waits for. */
  readonly waitsFor: Question['kind'] | undefined
  /** Id of the row of calls, of which one is open at a time. */
  readonly row: string | undefined
  /** Id of the session. */
  readonly session: string
  /** Whether the reader may see the servers of the host: not where the conversation is only read. */
  readonly hasLinks: boolean
  /** Absent where the reader may not stop the call. */
  readonly onStop?: (() => void) | undefined
}

/** A tool call: a chip that opens a card, and a sentence if it did not go well. */
export function ToolCard(props: ToolCardProps): ReactNode {
  const { item, waitsFor, row, session, hasLinks, onStop } = props
  const { server, tool, arguments: given, progress, result } = item
  const isRunning = result === undefined && waitsFor === undefined
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <details
        className="tool"
        name={row && `calls ${row}`}
        data-outcome={result?.outcome}
        onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
      >
        {/* A closed card has no result, so that it costs nothing to draw. The toggle comes after the card has opened. */}
        <summary onClick={(event) => event.defaultPrevented || setIsOpen(true)}>
          <Mark name={result === undefined ? openMark(waitsFor) : OUTCOMES[result.outcome].mark} />
          <ToolId server={server} tool={tool} />
          <State result={result} progress={progress} waitsFor={waitsFor} />
          {isRunning && onStop !== undefined && <StopButton onStop={onStop} />}
          {isRunning && progress !== undefined && (
            <progress
              aria-label="Progress"
              // Without a total, a bar with a value would be full at once.
              value={progress.total === undefined ? undefined : progress.progress}
              max={progress.total}
            />
          )}
        </summary>
        <div className="card">
          <header className="card-head">
            <ToolId server={server} tool={tool} />
            <span className="end" />
            {isOpen && result !== undefined && <CopyResult result={result} />}
          </header>
          <dl className="sheet">
            <div>
              <dt>Arguments</dt>
              <dd>
                <ToolArguments given={given} />
              </dd>
            </div>
            {result !== undefined && (
              <div>
                <dt>Result</dt>
                <dd>{isOpen && <ToolContent result={result} session={session} />}</dd>
              </div>
            )}
          </dl>
        </div>
      </details>
      {result !== undefined && !isOpen && <Pictures result={result} session={session} />}
      {result !== undefined && <CallFailure item={item} result={result} hasLinks={hasLinks} />}
    </>
  )
}

/** The pictures of a result whose card is closed: an answer speaks of them as if they were seen. */
function Pictures({ result, session }: Parameters<typeof ToolContent>[0]): ReactNode {
  const pictures = result.content.filter(
    (block) => mediaOf(block, (key) => key)?.kind === 'picture',
  )
  if (pictures.length === 0) return null
  return (
    <div className="pictures">
      {pictures.map((block, index) => (
        <ContentBlock key={index} block={block} session={session} />
      ))}
    </div>
  )
}

function CopyResult({ result }: { readonly result: ToolResult }): ReactNode {
  const text = textOfResult(result)
  return text === '' ? null : <CopyButton text={text} label="Copy the result" isIcon />
}

function openMark(waitsFor: Question['kind'] | undefined): MarkName {
  return waitsFor === undefined ? 'runs' : 'waits'
}

/** The answer goes on without the result. */
function StopButton({ onStop }: { readonly onStop: () => void }): ReactNode {
  const [isStopping, setIsStopping] = useState(false)
  return (
    <button
      type="button"
      className="icon-button tight"
      aria-label={isStopping ? 'Stopping' : 'Stop this call'}
      title="Stop this call"
      disabled={isStopping}
      onClick={(event) => {
        // It must not open the card.
        event.preventDefault()
        setIsStopping(true)
        onStop()
      }}
    >
      <Icon name="stop" />
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
    const { outcome, durationMs } = result
    const { hasText } = OUTCOMES[outcome]
    return (
      <span className="state">
        <span className={hasText === true ? undefined : 'hidden'}>{OUTCOME_WORDS[outcome]}</span>
        {durationMs !== undefined && hasText === true && ', '}
        {durationMs !== undefined && <span className="num">{duration(durationMs)}</span>}
      </span>
    )
  }
  if (waitsFor !== undefined) return <span className="state">{WAITS[waitsFor]}</span>
  return <span className="state">{progress?.message ?? stepsOf(progress) ?? 'Running'}</span>
}

function stepsOf(progress: ToolProgress | undefined): string | undefined {
  return progress?.total === undefined ? undefined : `${progress.progress} of ${progress.total}`
}

function duration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}
