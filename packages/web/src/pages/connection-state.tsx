import type { ReactNode } from 'react'
import { useEffect, useState } from 'react'
import { Box } from '../parts/box.tsx'
import { Mark } from '../parts/icon.tsx'
import type { ChatSession } from '../state/chat-session.ts'
import { loadLogin, login } from '../state/login.ts'
import { wordsOf } from './connection-words.ts'
import { useStore } from '../state/store.ts'

/** A first connection takes less. */
const LATE_MS = 1_000

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
