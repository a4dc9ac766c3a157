import type { ReactNode } from 'react'
import { Box } from '../parts/box.tsx'
import type { Turn } from '../state/turn.ts'
import { AttachmentList } from './attachment-list.tsx'
import { ItemList } from './item-list.tsx'

/** A message and its answer, of which nothing can be changed. */
export function SharedTurn({ turn }: { readonly turn: Turn }): ReactNode {
  return (
    <article className="turn">
      <header className="user">
        <h2 className="hidden">Message</h2>
        <div className="bubble">{turn.text}</div>
        <AttachmentList attachments={turn.attachments} session="" />
      </header>
      <div className="answer">
        <ItemList items={turn.items} sessionId="" />
        {turn.state !== 'done' && <p className="note">This message is not answered yet.</p>}
        {turn.error !== undefined && (
          <Box tone="failed">
            <strong>The answer failed.</strong> {turn.error}
          </Box>
        )}
      </div>
    </article>
  )
}
