import type { ReactNode } from 'react'
import { countOf } from '@mcp-host/client'
import { CopyButton } from '../markdown/copy-button.tsx'
import { Box } from '../parts/box.tsx'
import { IconButton } from '../parts/icon.tsx'
import type { ChatSession } from '../state/chat-session.ts'
import { costText } from '../state/cost-text.ts'
import { draftOf } from '../state/draft.ts'
import type { Turn } from '../state/turn.ts'
import { useIsGone } from '../state/use-is-gone.ts'

/** How a turn ended, and what can be done next. */
export function TurnEnd({
  turn,
  session,
}: {
  readonly turn: Turn
  readonly session: ChatSession
}): ReactNode {
  const isGone = useIsGone(session)
  if (turn.state === 'refused') {
    return (
      <Box tone="failed" role="alert">
        <strong>This message was not sent.</strong> {turn.error}
      </Box>
    )
  }
  if (turn.state !== 'done') return null
  const text = turn.items.flatMap((item) => (item.kind === 'text' ? item.text : [])).join('\n\n')
  return (
    <footer className="turn-end">
      <Outcome turn={turn} />
      <div className="actions">
        <Cost turn={turn} />
        <span className="end">
          {text !== '' && <CopyButton text={text} label="Copy answer" isIcon />}
          {!isGone && (
            <IconButton
              icon="again"
              label="Answer again"
              isTight
              onClick={() =>
                session.regenerate(turn.id, turn.text, draftOf(session.id).model.get())
              }
            />
          )}
        </span>
      </div>
    </footer>
  )
}

function Outcome({ turn: { outcome, error, items } }: { readonly turn: Turn }): ReactNode {
  if (outcome === 'cancelled' && items.length === 0)
    return <p className="note">You took this message back. It is not answered.</p>
  if (outcome === 'cancelled') return <p className="note">You stopped this answer.</p>
  if (outcome === 'failed') {
    return (
      <Box tone="failed">
        <strong>The answer failed.</strong> {error}
      </Box>
    )
  }
  if (outcome === 'limit') {
    return (
      <Box tone="plain">
        <strong>The answer reached a limit.</strong> {error}
      </Box>
    )
  }
  return null
}

function Cost({ turn: { usage, items } }: { readonly turn: Turn }): ReactNode {
  const calls = items.filter(({ kind }) => kind === 'tool').length
  const count = calls === 0 ? [] : [countOf(calls, 'call')]
  const { model, inputTokens = 0, outputTokens = 0, cost } = usage ?? {}
  const parts = [
    ...(model === undefined ? [] : [nameOf(model)]),
    ...count,
    ...(usage === undefined ? [] : [`${inputTokens} tokens in, ${outputTokens} out`]),
    ...(cost === undefined ? [] : [`cost ${costText(cost)}`]),
  ]
  return parts.map((part) => (
    <span key={part} className="num">
      {part}
    </span>
  ))
}

/** The demo model is not taken for a real one. */
function nameOf(model: string): string {
  return model.startsWith('demo/') ? 'built-in demo model, not a real one' : model
}
