import type { ClientState, ConnectionFault } from '@mcp-host/client'
import type { MarkName } from '../parts/icon.tsx'
import { refusalText } from '../state/refusal-text.ts'

interface ConnectionText {
  /** In the head of the page. */
  readonly short: string
  readonly mark?: MarkName
  /** What happens by itself, and what only the user can do; absent: nothing is wrong. */
  readonly long?: string
}

/** The words for a connection. */
export function wordsOf(connection: ClientState): ConnectionText {
  switch (connection.state) {
    case 'connected':
      return connection.over === 'socket'
        ? { short: 'connected' }
        : { short: 'connected over HTTP', mark: 'half', long: WITHOUT_SOCKETS }
    case 'connecting':
      return {
        short: 'connecting',
        mark: 'runs',
        long: 'Connecting to the host. You can write meanwhile.',
      }
    case 'reconnecting': {
      const { fault, reason } = connection
      return fault === undefined
        ? {
            short: 'reconnecting',
            mark: 'runs',
            long: `Connecting again. ${KEPT}`,
          }
        : FAULTS[fault](reason)
    }
    case 'ended':
      return { short: 'not connected', mark: 'off', long: ENDS[connection.why](connection.message) }
    default:
      return connection satisfies never
  }
}

const KEPT = 'Nothing is lost: what you send goes out as soon as the host is back.'

const WITHOUT_SOCKETS =
  'A proxy on the way passes no WebSockets, so this chat goes over plain HTTP. It works; the proxy should pass on the headers Upgrade and Connection for /ws.'

const FAULTS: Readonly<Record<ConnectionFault, (reason: string) => ConnectionText>> = {
  restart: () => ({
    short: 'the host restarts',
    mark: 'half',
    long: 'The host restarts. Nothing is lost: you can go on writing.',
  }),
  offline: () => ({
    short: 'offline',
    mark: 'off',
    long: 'This device has no network. Nothing is lost: what you send goes out as soon as it is online.',
  }),
  away: () => ({
    short: 'no answer',
    mark: 'off',
    long: `Nothing answers at the address of the host: it is stopped, or the network does not reach it. ${KEPT}`,
  }),
  proxy: () => ({
    short: 'no answer',
    mark: 'off',
    long: `A proxy answers, but it does not reach the host behind it. ${KEPT}`,
  }),
  stranger: () => ({
    short: 'not this host',
    mark: 'off',
    long: 'Something else answers at this address: another program, another version of the host, or the login of a proxy. Reload the page; what you have written stays.',
  }),
  unavailable: (reason) => ({
    short: 'not available',
    mark: 'half',
    long: `The host answers that it cannot serve at the moment: ${reason}. ${KEPT}`,
  }),
}

const ENDS = {
  closed: () => 'This chat is closed. Reload the page to open it again.',
  deleted: () => 'This chat was deleted.',
  refused: (message: string) => `The host refuses this chat: ${refusalText(message)}`,
  unauthenticated: () => 'This chat is not connected: the host asks for a login. Log in again.',
  forbidden: (message: string) => `You may not chat here: ${message}`,
  unreachable: () => 'The host does not answer. Reload the page to try again.',
} as const
