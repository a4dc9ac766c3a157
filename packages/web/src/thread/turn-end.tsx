import type { ReactNode } from 'react'
import { CopyButton } from '../markdown/copy-button.tsx'
import type { ChatSession } from '../state/chat-session.ts'
import { draftOf } from '../state/draft.ts'
import type { Turn } from '../state/turn.ts'

/** How a turn ended, and what can be done next. */
export function TurnEnd({
  turn,
  session,
}: {
  readonly turn: Turn
  readonly session: ChatSession
}): ReactNode {
  if (turn.state === 'refused') {
    return (
      <p role="alert" className="note bad">
        This message was not sent. {turn.error}
      </p>
    )
  }
  if (turn.state !== 'done') return null
  const text = turn.items.flatMap((item) => (item.kind === 'text' ? item.text : [])).join('\n\n')
  return (
    <footer className="turn-end">
      <Outcome turn={turn} />
      <div className="actions">
        {text !== '' && <CopyButton text={text} label="Copy answer" />}
        <button
          type="button"
          className="quiet"
          onClick={() => session.regenerate(turn.id, turn.text, draftOf(session.id).model.get())}
        >
          Answer again
        </button>
        <Cost turn={turn} />
      </div>
    </footer>
  )
}

function Outcome({ turn: { outcome, error, items } }: { readonly turn: Turn }): ReactNode {
  if (outcome === 'cancelled' && items.length === 0)
    return <p className="note">You took this message back. It is not answered.</p>
  if (outcome === 'cancelled') return <p className="note">You stopped this answer.</p>
  if (outcome === 'failed') return <p className="note bad">The answer failed. {error}</p>
  if (outcome === 'limit') return <p className="note warn">The answer reached a limit. {error}</p>
  return null
}

function Cost({ turn: { usage } }: { readonly turn: Turn }): ReactNode {
  if (usage === undefined) return null
  const { model, inputTokens, outputTokens, cost } = usage
  const price = cost === undefined ? '' : `, cost ${cost.toPrecision(2)}`
  return (
    <small>
      {model}, {inputTokens} tokens in, {outputTokens} out{price}
    </small>
  )
}
