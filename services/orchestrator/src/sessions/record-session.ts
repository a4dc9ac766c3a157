import type { Bus } from '@mcp-host/bus'
import type { SessionId, SessionRecord } from '@mcp-host/contracts'
import type { SessionState } from '@mcp-host/session-state'
import type { Logger } from '@mcp-host/service'
import { activityOf } from '@mcp-host/session-state'
import { cleanTitle } from './clean-title.ts'
import { updateRecord } from './update-record.ts'

/** The length of a title, in characters. */
const TITLE_LENGTH = 80
/** The delay of a write, which coalesces the claim and the end of a quick turn, and does not delay the first text. */
const PAUSE_MS = 200

export interface SessionRecorderDeps {
  readonly bus: Pick<Bus, 'directory'>
  readonly logger: Logger
}

/** Updates the records of sessions from their logs. For each session only the newest record is written. */
export class SessionRecorder implements AsyncDisposable {
  readonly #deps: SessionRecorderDeps
  /** Records to be written. */
  readonly #news = new Map<SessionId, SessionRecord>()
  readonly #writes = new Map<SessionId, Promise<void>>()
  #timer: NodeJS.Timeout | undefined

  constructor(deps: SessionRecorderDeps) {
    this.#deps = deps
  }

  /** Takes the state of a session. Returns at once, and failed writes are only logged. */
  note(session: SessionId, state: SessionState): void {
    const record = toRecord(session, state)
    if (record === undefined) return
    this.#news.set(session, record)
    // The record of a new session is written at once, since clients look for it.
    if (record.messages === 1) this.#write(session)
    else this.#timer ??= setTimeout(() => this.#writeAll(), PAUSE_MS)
  }

  /** Writes the remaining records. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#writeAll()
    await Promise.all(this.#writes.values())
  }

  #writeAll(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const session of this.#news.keys()) this.#write(session)
  }

  /** Starts a write unless one is in flight, which also writes later records. */
  #write(session: SessionId): void {
    if (this.#writes.has(session)) return
    this.#writes.set(session, this.#writeNews(session))
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
        logger.warn(
          fields,
          'could not write the record of a session; its next turn writes it again',
        )
      }
    }
    // A record that is noted from here on starts its own write.
    this.#writes.delete(session)
  }
}

/** The record of a state; `undefined` before the first message and after a deletion. */
function toRecord(session: SessionId, state: SessionState): SessionRecord | undefined {
  const { owner, inputs, usage, toolCalls, createdAt, updatedAt, isDeleted, entries } = state
  if (owner === undefined || isDeleted) return undefined
  return {
    id: session,
    owner,
    title: titleOf(state),
    isTitled: false,
    createdAt,
    updatedAt,
    activity: activityOf(state),
    messages: inputs.size,
    toolCallCount: toolCalls,
    entries,
    usage: usage.map((each) => ({ ...each })),
    state: 'active',
  }
}

/** The first line, or else the first file, of the first message whose content the state has. */
function titleOf({ inputs }: SessionState): string {
  const texts = inputs
    .values()
    .map(({ text, attachments = [] }) => text.trim() || (attachments[0]?.name ?? ''))
  const [line = ''] = (texts.find((text) => text !== '') ?? '').split('\n', 1)
  return Array.from(cleanTitle(line)).slice(0, TITLE_LENGTH).join('')
}

/** The record to write; `undefined` when the known record is newer, or marks a deletion. */
function merge(known: SessionRecord | undefined, news: SessionRecord): SessionRecord | undefined {
  if (known === undefined) return news
  if (known.state === 'deleted' || known.messages > news.messages) return undefined
  if (known.messages === news.messages && known.updatedAt >= news.updatedAt) return undefined
  const { messages, usage, toolCallCount, entries, activity } = news
  // A session that was created before its first message may have no title yet.
  const { title } = known.isTitled || known.messages > 0 ? known : news
  return {
    ...known,
    title,
    activity,
    messages,
    toolCallCount,
    entries,
    usage,
    updatedAt: Math.max(known.updatedAt, news.updatedAt),
  }
}
