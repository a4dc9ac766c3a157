import type { Bus } from '@mcp-host/bus'
import type { SessionId, SessionRecord, SessionState } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { cleanTitle } from './clean-title.ts'
import { updateRecord } from './update-record.ts'

/** In characters. */
const TITLE_LENGTH = 80
/** The claim and the end of a quick turn are one write, and no first word waits for it. */
const PAUSE_MS = 200

export interface SessionRecorderDeps {
  readonly bus: Pick<Bus, 'directory'>
  readonly logger: Logger
}

/** Keeps the records of sessions as their logs are. Of one session only the newest news are written. */
export class SessionRecorder implements AsyncDisposable {
  readonly #deps: SessionRecorderDeps
  /** Records to be written. */
  readonly #news = new Map<SessionId, SessionRecord>()
  readonly #writes = new Map<SessionId, Promise<void>>()
  #timer: NodeJS.Timeout | undefined

  constructor(deps: SessionRecorderDeps) {
    this.#deps = deps
  }

  /** The session has come so far. Returns at once; what cannot be written is only logged. */
  note(session: SessionId, state: SessionState): void {
    const record = toRecord(session, state)
    if (record === undefined) return
    this.#news.set(session, record)
    // A new session is looked for at once.
    if (record.messages === 1) this.#write(session)
    else this.#timer ??= setTimeout(() => this.#writeAll(), PAUSE_MS)
  }

  /** Writes what is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#writeAll()
    await Promise.all(this.#writes.values())
  }

  #writeAll(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const session of this.#news.keys()) this.#write(session)
  }

  /** One write at a time: the one that is under way also writes what came meanwhile. */
  #write(session: SessionId): void {
    if (this.#writes.has(session)) return
    const written = this.#writeNews(session).finally(() => void this.#writes.delete(session))
    this.#writes.set(session, written)
  }

  async #writeNews(session: SessionId): Promise<void> {
    const { bus, logger } = this.#deps
    for (let news; (news = this.#news.get(session)) !== undefined;) {
      this.#news.delete(session)
      const record = news
      try {
        await updateRecord(bus.directory, session, (known) => merge(known, record))
      } catch (err) {
        const fields = { component: 'sessions', action: 'record', sessionId: session, err }
        logger.warn(fields, 'could not write what is known of a session; its next turn will')
      }
    }
  }
}

/** `undefined` while there is nothing to tell of. */
function toRecord(session: SessionId, state: SessionState): SessionRecord | undefined {
  const { owner, inputs, usage, createdAt, updatedAt, isDeleted, entries } = state
  if (owner === undefined || isDeleted) return undefined
  return {
    id: session,
    owner,
    title: titleOf(state),
    isTitled: false,
    createdAt,
    updatedAt,
    messages: inputs.size,
    entries,
    usage: usage.map((each) => ({ ...each })),
    state: 'active',
  }
}

/** The first line of the first message whose text is at hand. */
function titleOf({ inputs }: SessionState): string {
  const texts = inputs.values().map(({ text }) => text.trim())
  const [line = ''] = (texts.find((text) => text !== '') ?? '').split('\n', 1)
  return Array.from(cleanTitle(line)).slice(0, TITLE_LENGTH).join('')
}

/** The record to be written; `undefined` when what is known is newer, or that it was deleted. */
function merge(known: SessionRecord | undefined, news: SessionRecord): SessionRecord | undefined {
  if (known === undefined) return news
  if (known.state === 'deleted' || known.messages > news.messages) return undefined
  if (known.messages === news.messages && known.updatedAt >= news.updatedAt) return undefined
  const { messages, usage, entries } = news
  // One that was made known before its first message may have no title yet.
  const { title } = known.isTitled || known.messages > 0 ? known : news
  return {
    ...known,
    title,
    messages,
    entries,
    usage,
    updatedAt: Math.max(known.updatedAt, news.updatedAt),
  }
}
