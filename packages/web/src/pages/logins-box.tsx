import type { Connection } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { Fragment, useState } from 'react'
import { Box } from '../parts/box.tsx'
import { HOST_URL, host } from '../state/host.ts'
import { useLoaded } from '../state/use-loaded.ts'
import { usePoll } from '../state/use-poll.ts'

const POLL_MS = 60_000

const read = (): Promise<Connection[]> => host.connections()

/** Names the servers at which the user has to log in again, before a call needs it. */
export function LoginsBox(): ReactNode {
  const { value: connections = [], reload } = useLoaded(read)
  usePoll(reload, POLL_MS)
  const [isLater, setIsLater] = useState(false)
  const needed = connections.filter(({ logins }) => logins.some(({ isNeeded }) => isNeeded))
  if (needed.length === 0 || isLater) return null
  return (
    <Box tone="waits" role="status">
      Log in again, so that calls do not have to wait:{' '}
      {needed.map(({ server, connectPath }, index) => (
        <Fragment key={server}>
          {index > 0 && ', '}
          {connectPath === undefined ? (
            server
          ) : (
            <a href={HOST_URL + connectPath} target="_blank" rel="noreferrer">
              {server}
            </a>
          )}
        </Fragment>
      ))}
      .{' '}
      <button type="button" onClick={() => setIsLater(true)}>
        Later
      </button>
    </Box>
  )
}
