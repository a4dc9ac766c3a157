import type { ClientState } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useEffect, useState } from 'react'
import type { ChatSession } from '../state/chat-session.ts'
import { RESTARTS } from '../state/chat-session.ts'
import { loadLogin, login } from '../state/login.ts'
import { useStore } from '../state/store.ts'

const NOTHING = { text: '', tone: '' }

/** A first connection takes less. */
const LATE_MS = 1_000

/** Says what is wrong with the connection, and that nothing is lost. */
export function ConnectionBanner({ session }: { readonly session: ChatSession }): ReactNode {
  const connection = useStore(session.connection)
  const isLate = useLate(connection.state === 'connecting')
  const isExpired = useStore(login).state === 'expired'
  const isLoggedOut = connection.state === 'ended' && connection.why === 'unauthenticated'
  // The page says it, above the chat.
  const isSaid = isLoggedOut && isExpired
  const { text, tone } = isSaid ? NOTHING : describe(connection, isLate)
  useEffect(() => void (isLoggedOut && loadLogin()), [isLoggedOut])
  return (
    <div
      role="status"
      className={text === '' ? 'hidden' : `banner ${tone}`}
      data-connection={connection.state}
    >
      {text}
    </div>
  )
}

/** Whether something has lasted for a while. */
function useLate(isOn: boolean): boolean {
  const [isLate, setIsLate] = useState(false)
  useEffect(() => {
    if (!isOn) return undefined
    const timer = setTimeout(() => setIsLate(true), LATE_MS)
    return () => {
      clearTimeout(timer)
      setIsLate(false)
    }
  }, [isOn])
  return isLate
}

function describe(
  connection: ClientState,
  isLate: boolean,
): { readonly text: string; readonly tone: string } {
  switch (connection.state) {
    case 'connected':
      return NOTHING
    case 'connecting':
      return isLate
        ? { text: 'Connecting to the host. You can write meanwhile.', tone: 'warn' }
        : NOTHING
    case 'reconnecting':
      return connection.reason === RESTARTS
        ? { text: 'The host restarts. Nothing is lost: you can go on writing.', tone: 'warn' }
        : {
            text: 'Connecting again. Nothing is lost: what you send goes out as soon as the host is back.',
            tone: 'warn',
          }
    case 'ended':
      return { text: ENDS[connection.why](connection.message), tone: 'bad' }
    default:
      return connection satisfies never
  }
}

const ENDS = {
  closed: () => 'This chat is closed. Reload the page to open it again.',
  deleted: () => 'This chat was deleted.',
  refused: (message: string) => `The host refuses this chat: ${message}`,
  unauthenticated: () => 'This chat is not connected: you are logged out, or may not chat here.',
  unreachable: () => 'The host does not answer. Reload the page to try again.',
} as const
