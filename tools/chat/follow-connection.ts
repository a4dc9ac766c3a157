import type { ClientState, SessionClient } from '@mcp-host/client'
import { CommandError } from '../command-line.ts'

export interface ConnectionListener {
  /** The URL of the gateway. */
  readonly url: string
  readonly onWelcome: (message: string, sessionId: string) => void
  /** The connection is lost, and the client reconnects. */
  readonly onConnection: (message: string) => void
  /** The connection is lost for good. */
  readonly onLost: (reason: string) => void
}

/** The states of a terminal chat's connection, in words. */
export class FollowConnection {
  readonly #listener: ConnectionListener
  readonly #first = Promise.withResolvers<void>()
  #isConnected = false

  constructor(listener: ConnectionListener) {
    this.#listener = listener
  }

  readonly onState = (state: ClientState): void => {
    const { url, onWelcome, onConnection, onLost } = this.#listener
    switch (state.state) {
      case 'connecting':
        return
      case 'connected':
        if (!this.#isConnected) onWelcome(state.message, state.sessionId)
        this.#isConnected = true
        this.#first.resolve()
        return
      case 'reconnecting':
        if (!this.#isConnected) {
          // While it is not found out, the client may go on by another way.
          if (state.fault === undefined) return
          this.#first.reject(
            new CommandError(`no gateway answers at ${url}. Start the host with: npm start`),
          )
        } else if (state.attempt === 1) onConnection('The connection is lost; connecting again')
        return
      case 'ended': {
        const remedy = state.why === 'unauthenticated' ? '; authenticate with --token' : ''
        if (state.why === 'closed') return
        if (this.#isConnected) onLost(state.message + remedy)
        else this.#first.reject(new CommandError(state.message + remedy))
        return
      }
      default:
        state satisfies never
    }
  }

  /** Resolves at the first connection. Closes the client and throws when there is none. */
  async connected(client: SessionClient): Promise<void> {
    try {
      await this.#first.promise
    } catch (error) {
      client.close()
      throw error
    }
  }
}
