import type { ClientEvent, ClientState } from '@mcp-host/client'
import { SessionClient } from '@mcp-host/client'
import { HOST_URL } from './host.ts'
import { Store } from './store.ts'

/** The place before the first event of a session. */
const BEGINNING = '0.0.-.0'

/** All events of a session from its beginning, as clients get them. It follows the session until it is disposed. */
export class EventLog implements Disposable {
  readonly events = new Store<readonly ClientEvent[]>([])
  readonly connection = new Store<ClientState>({ state: 'connecting' })
  readonly #client: SessionClient
  #fresh: ClientEvent[] = []
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(session: string) {
    this.#client = new SessionClient({
      url: HOST_URL,
      sessionId: session,
      after: BEGINNING,
      onEvent: (event) => this.#take(event),
      onState: (state) => this.connection.set(state),
    })
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#client.close()
  }

  /** Thousands of events may come at once: they are shown together. */
  #take(event: ClientEvent): void {
    this.#fresh.push(event)
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      const fresh = this.#fresh
      this.#fresh = []
      this.events.set([...this.events.get(), ...fresh])
    }, SHOWN_AFTER_MS)
  }
}

const SHOWN_AFTER_MS = 50
