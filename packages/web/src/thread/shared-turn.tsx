import type { ReactNode } from 'react'
import type { Turn } from '../state/turn.ts'
import { AttachmentList } from './attachment-list.tsx'
import { ItemView } from './item-view.tsx'

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
        {turn.items.map((item) => (
          <ItemView key={item.id} item={item} isOpen={false} waitsFor={undefined} sessionId="" />
        ))}
        {turn.state !== 'done' && <p className="note">This message is not answered yet.</p>}
        {turn.error !== undefined && <p className="note bad">The answer failed. {turn.error}</p>}
      </div>
    </article>
  )
}
