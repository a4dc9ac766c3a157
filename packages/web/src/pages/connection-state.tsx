import type { ClientState } from '@mcp-host/client'
import { GATEWAY_RESTARTS } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useEffect, useState } from 'react'
import { Box } from '../parts/box.tsx'
import type { MarkName } from '../parts/icon.tsx'
import { Mark } from '../parts/icon.tsx'
import type { ChatSession } from '../state/chat-session.ts'
import { loadLogin, login } from '../state/login.ts'
import { refusalText } from '../state/refusal-text.ts'
import { useStore } from '../state/store.ts'

/** A first connection takes less. */
const LATE_MS = 1_000

interface ConnectionText {
  /** In the head of the page. */
  readonly short: string
  readonly mark?: MarkName
  /** What happens by itself, and what only the user can do; absent: nothing is wrong. */
  readonly long?: string
}

/** The state of the connection, in a word. */
export function ConnectionState({ session }: { readonly session: ChatSession }): ReactNode {
  const connection = useStore(session.connection)
  const { short, mark } = wordsOf(connection)
  return (
    <span className="bar-state only-wide" data-connection={connection.state}>
      {mark !== undefined && <Mark name={mark} />}
      {short}
    </span>
  )
}

/** Says what is wrong with the connection, and that nothing is lost. */
export function ConnectionBox({ session }: { readonly session: ChatSession }): ReactNode {
  const connection = useStore(session.connection)
  const isLate = useLate(connection.state === 'connecting')
  const isExpired = useStore(login).state === 'expired'
  const isLoggedOut = connection.state === 'ended' && connection.why === 'unauthenticated'
  const { long, mark } = wordsOf(connection)
  // The box of the login says that the user is logged out.
  const isShownElsewhere = isLoggedOut && isExpired
  const isQuiet = isShownElsewhere || (connection.state === 'connecting' && !isLate)
  useEffect(() => void (isLoggedOut && loadLogin()), [isLoggedOut])
  return (
    <div role="status">
      {long !== undefined && !isQuiet && (
        <Box tone={connection.state === 'ended' ? 'failed' : 'plain'} mark={mark ?? 'off'}>
          {long}
        </Box>
      )}
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

function wordsOf(connection: ClientState): ConnectionText {
  switch (connection.state) {
    case 'connected':
      return { short: 'connected' }
    case 'connecting':
      return {
        short: 'connecting',
        mark: 'runs',
        long: 'Connecting to the host. You can write meanwhile.',
      }
    case 'reconnecting':
      return connection.reason === GATEWAY_RESTARTS
        ? {
            short: 'the host restarts',
            mark: 'half',
            long: 'The host restarts. Nothing is lost: you can go on writing.',
          }
        : {
            short: 'reconnecting',
            mark: 'runs',
            long: 'Connecting again. Nothing is lost: what you send goes out as soon as the host is back.',
          }
    case 'ended':
      return { short: 'not connected', mark: 'off', long: ENDS[connection.why](connection.message) }
    default:
      return connection satisfies never
  }
}

const ENDS = {
  closed: () => 'This chat is closed. Reload the page to open it again.',
  deleted: () => 'This chat was deleted.',
  refused: (message: string) => `The host refuses this chat: ${refusalText(message)}`,
  unauthenticated: () => 'This chat is not connected: you are logged out, or may not chat here.',
  unreachable: () => 'The host does not answer. Reload the page to try again.',
} as const
