import type { ReactNode } from 'react'
import { lazy, memo, Suspense } from 'react'
import { QuestionView } from '../ask/question-view.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import type { ChatSession } from '../state/chat-session.ts'
import type { Item, Question } from '../state/turn.ts'
import { Reasoning } from './reasoning.tsx'
import { ToolCard } from './tool-card.tsx'

export interface ItemViewProps {
  readonly item: Item
  /** Whether more of it follows. */
  readonly isOpen: boolean
  /** The open question that a tool call waits for. */
  readonly waitsFor: Question['kind'] | undefined
  /** Id of the row of a tool call, of which one call is open at a time. */
  readonly row?: string | undefined
  /** Id of the session, whose files a tool may have returned. */
  readonly sessionId: string
  /** Where questions are answered and apps act; absent where the conversation is only read. */
  readonly session?: ChatSession | undefined
  /** Called with 1 when an app of the item begins, and with -1 when it ends. */
  readonly onApps?: ((change: number) => void) | undefined
}

const ToolApp = lazy(async () => ({ default: (await import('../apps/tool-app.tsx')).ToolApp }))

/** One thing of an answer. */
export const ItemView = memo(function ItemView(props: ItemViewProps): ReactNode {
  const { item, isOpen, waitsFor, row, sessionId, session, onApps } = props
  switch (item.kind) {
    case 'text':
      return <Markdown text={item.text} isOpen={isOpen} />
    case 'reasoning':
      return <Reasoning text={item.text} isOpen={isOpen} />
    case 'tool':
      return (
        <>
          <ToolCard
            item={item}
            waitsFor={waitsFor}
            row={row}
            session={sessionId}
            hasLinks={session !== undefined}
            onStop={session && (() => session.stopCall(item.id))}
          />
          {session !== undefined && onApps !== undefined && waitsFor !== 'approval' && (
            <Suspense>
              <ToolApp item={item} session={session} onApps={onApps} />
            </Suspense>
          )}
        </>
      )
    case 'question':
      return <QuestionView item={item} session={session} />
    case 'note':
      return <p className="note">{item.text}</p>
    default:
      return item satisfies never
  }
})
