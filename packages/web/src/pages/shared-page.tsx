import type { SharedSession } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { useCallback, useEffect, useState } from 'react'
import { FileUrls } from '../state/file-urls.ts'
import { historyTurns } from '../state/history-turns.ts'
import { host } from '../state/host.ts'
import { messageOf } from '../state/message-of.ts'
import { dayOf } from '../state/time-text.ts'
import type { Turn } from '../state/turn.ts'
import { SharedTurn } from '../thread/shared-turn.tsx'
import { Box } from '../parts/box.tsx'
import { ErrorBoundary } from '../parts/error-boundary.tsx'

const PAGE_TURNS = 40

interface Loaded {
  readonly turns: readonly Turn[]
  /** Leads to older turns. */
  readonly next: string | undefined
}

/** A session as a share link shows it: to be read only. */
export function SharedPage({ token }: { readonly token: string }): ReactNode {
  const [about, setAbout] = useState<SharedSession>()
  const [{ turns, next }, setLoaded] = useState<Loaded>({ turns: [], next: undefined })
  const [fault, setFault] = useState<string>()
  const [isLoading, setIsLoading] = useState(false)
  const load = useCallback(
    async (before: string | undefined): Promise<void> => {
      setIsLoading(true)
      try {
        const place = before === undefined ? {} : { before }
        const page = await host.sharedMessages(token, { limit: PAGE_TURNS, ...place })
        const older = historyTurns(page.messages)
        setLoaded((known) => ({ turns: [...older, ...known.turns], next: page.next }))
        setFault(undefined)
      } catch (error) {
        setFault(messageOf(error))
      } finally {
        setIsLoading(false)
      }
    },
    [token],
  )
  useEffect(() => {
    host.shared(token).then(setAbout, (error: unknown) => setFault(messageOf(error)))
    void load(undefined)
  }, [token, load])
  return (
    <main className="shared">
      {about !== undefined && (
        <header>
          <h1>{about.title}</h1>
          <p className="note">
            A shared chat, to be read only. The link ends on {dayOf(about.expiresAt)}.
          </p>
        </header>
      )}
      {fault !== undefined && (
        <Box tone="failed" role="alert">
          <strong>This chat cannot be shown:</strong> {fault}
        </Box>
      )}
      {next !== undefined && (
        <button type="button" disabled={isLoading} onClick={() => void load(next)}>
          Show earlier messages
        </button>
      )}
      <FileUrls value={(_, key) => host.sharedFileUrl(token, key)}>
        {turns.map((turn) => (
          <ErrorBoundary key={turn.id} what="This message">
            <SharedTurn turn={turn} />
          </ErrorBoundary>
        ))}
      </FileUrls>
    </main>
  )
}
