import type { ReactNode } from 'react'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { VirtualizerHandle } from 'virtua'
import { Virtualizer } from 'virtua'
import type { ChatSession } from '../state/chat-session.ts'
import { isPressed, SHORTCUTS } from '../state/shortcuts.ts'
import { useStore } from '../state/store.ts'
import { EndButton } from './end-button.tsx'
import { TurnView } from './turn-view.tsx'
import { useKept } from './use-kept.ts'
import { useStickyEnd } from './use-sticky-end.ts'
import { useTurnKeys } from './use-turn-keys.ts'
import { useWantedTurn } from './use-wanted-turn.ts'

/** So near the beginning older messages are loaded. */
const EARLY = 400

/** The conversation, of which only the visible turns are in the page. */
export function ThreadView({ session }: { readonly session: ChatSession }): ReactNode {
  const turns = useStore(session.thread.turns)
  const history = useStore(session.history)
  const list = useRef<VirtualizerHandle>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const { isAtEnd, onScroll, onResize, scrollToEnd, scrollToTurn } = useStickyEnd(scroller, list)
  const { indexes: keptIndexes, keep } = useKept(turns)
  const newest = turns.at(-1)?.get()
  const showOwn = useEffectEvent(() => {
    if (newest?.state === 'unsent') scrollToEnd()
  })
  // What the user has just said is shown, wherever they read before.
  useEffect(() => showOwn(), [newest?.id])
  useWantedTurn(session, scrollToTurn)
  useTurnKeys(turns, scrollToTurn)
  const [isPrepending, setIsPrepending] = useState(false)
  const scrolled = (offset: number): void => {
    onScroll(offset)
    if (offset > EARLY || history.state !== 'loaded' || history.before === undefined) return
    // The list keeps what is seen in its place only while turns come before it.
    setIsPrepending(true)
    void session.loadOlder().then(() => setIsPrepending(false))
  }
  return (
    <section className="thread" aria-label="Conversation">
      {history.state === 'failed' && (
        <p role="alert" className="banner bad">
          The earlier messages could not be loaded: {history.why}
        </p>
      )}
      <div
        ref={scroller}
        onKeyDown={(event) => {
          // The browser would scroll to where the end was.
          if (!isPressed(event.nativeEvent, SHORTCUTS.end) || !scrollsList(event.target)) return
          event.preventDefault()
          scrollToEnd()
        }}
        className="turns"
        tabIndex={0}
        role="group"
        aria-label="Messages"
      >
        <Virtualizer
          ref={list}
          shift={isPrepending}
          keepMounted={keptIndexes}
          onScroll={scrolled}
          onResize={onResize}
        >
          {turns.map((turn) => (
            <TurnView key={turn.get().id} store={turn} session={session} onKeep={keep} />
          ))}
        </Virtualizer>
      </div>
      {!isAtEnd && <EndButton session={session} scroller={scroller} onEnd={scrollToEnd} />}
    </section>
  )
}

/** Whether keys scroll the list: those in fields, and in parts that scroll by themselves, do not. */
function scrollsList(target: EventTarget): boolean {
  return target instanceof Element && target.matches('.turns, .turn')
}
