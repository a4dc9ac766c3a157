import type { Message } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { ChatSession } from '../state/chat-session.ts'
import { contextUse } from '../state/context-use.ts'
import { host } from '../state/host.ts'
import { models } from '../state/models.ts'
import { useStore } from '../state/store.ts'

/** Turns that are read: behind the one that has ended, others may wait. */
const PAGE_TURNS = 10

/** How full the context of the model is. The history has the numbers of each answer, so it is read after each turn. */
export function ContextGauge({ session }: { readonly session: ChatSession }): ReactNode {
  const { thread, id } = session
  const ended = useSyncExternalStore(thread.subscribeChanges, () => thread.lastEnded)
  const [read, setRead] = useState<{ ended: string; messages: readonly Message[] }>()
  const known = useStore(models)
  useEffect(() => {
    if (ended === undefined) return undefined
    let isLatest = true
    host.messages(id, { limit: PAGE_TURNS, branch: ended }).then(
      ({ messages }) => isLatest && setRead({ ended, messages }),
      // The state of the connection says what is wrong.
      () => undefined,
    )
    return () => {
      isLatest = false
    }
  }, [id, ended])
  const use = read === undefined ? undefined : contextUse(read.messages, read.ended, known)
  if (use?.window === undefined) return null
  const share = Math.min(1, use.tokens / use.window)
  const text = `${Math.ceil(share * 100)} % of the context`
  return (
    <span
      className="gauge"
      title={`${use.tokens} of ${use.window} tokens of ${use.model}. The host shortens what is too long.`}
    >
      <meter className="scale" value={share} aria-label="Context in use">
        {text}
      </meter>
      <small>{text}</small>
    </span>
  )
}
