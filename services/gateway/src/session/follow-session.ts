import type { Bus, FollowItem, LogEnd } from '@mcp-host/bus'
import type { Cursor, Envelope, LogEntry, SessionId, ToolProgressDown } from '@mcp-host/contracts'
import {
  BusError,
  childEnvelope,
  cursorAfter,
  generationId,
  generationSnapshot,
} from '@mcp-host/contracts'
import type { StreamEvent } from '../projection/session-reader.ts'
import { SessionReader } from '../projection/session-reader.ts'
import type { SessionAccess } from './session-access.ts'

const SNAPSHOT_TIMEOUT_MS = 1_000

export interface FollowOptions {
  readonly envelope: Envelope
  readonly signal: AbortSignal
  /** Checked before the events of entries are yielded. Text and progress follow from entries. */
  readonly access: Pick<SessionAccess, 'check'>
  /** Whether the end of each turn carries its final answer. */
  readonly withAnswers?: boolean
  /** Gets all that is read, before its events are yielded. */
  readonly watch?: {
    readonly item: (item: FollowItem) => void
    /** `watch` gets the entries after this sequence, even those before the cursor. */
    readonly after: number
  }
}

/**
 * A session's events from a cursor on, without gaps or repetitions, until its end or the signal. Progress of tools is
 * interleaved as it arrives. Throws `not-found` once the session is of another principal.
 */
export async function* followSession(
  bus: Bus,
  session: SessionId,
  start: Cursor,
  { envelope, signal, access, watch, withAnswers = false }: FollowOptions,
): AsyncIterable<StreamEvent | ToolProgressDown> {
  const reader = new SessionReader(start, { withAnswers })
  const after = Math.min(reader.readAfter, watch?.after ?? reader.readAfter)
  for await (const item of bus.sessions.follow(session, { after, deltas: true, signal })) {
    if (item.type === 'entry') await access.check()
    watch?.item(item)
    switch (item.type) {
      case 'entry':
        for (const event of reader.entry(item.entry)) {
          // When the cursor is within the end of a turn, the reader lacks the earlier parts of the answer.
          const isCut = event.answer !== undefined && item.entry.seq === start.seq
          yield isCut ? await withWholeAnswer(bus, session, item.entry, event) : event
          if (event.type === 'session') return
        }
        if (reader.missesText) yield* missingText(bus, session, reader, envelope)
        break
      case 'delta': {
        const events = reader.delta(item.delta)
        yield* events === 'gap' ? missingText(bus, session, reader, envelope) : events
        break
      }
      case 'progress':
        yield* reader.progress(item.progress)
        break
      case 'caught-up':
        yield* missingText(bus, session, reader, envelope)
        break
      default:
        item satisfies never
    }
  }
}

/** The end of a turn with the answer that the log has. */
async function withWholeAnswer(
  bus: Bus,
  session: SessionId,
  { kind, fact, seq }: LogEntry,
  event: StreamEvent,
): Promise<StreamEvent> {
  if (kind !== 'turn') return event
  const reader = new SessionReader(cursorAfter(fact.turn), { withAnswers: true })
  const entries = await bus.sessions.read(session, fact.turn, { through: seq })
  const turn = entries.filter((entry) => entry.seq <= seq)
  const answer = turn.flatMap((entry) => reader.entry(entry)).at(-1)?.answer
  return answer === undefined ? event : { ...event, answer }
}

/** Text of the running generation after the cursor, from its worker. */
async function* missingText(
  bus: Bus,
  session: SessionId,
  reader: SessionReader,
  envelope: Envelope,
): AsyncIterable<StreamEvent> {
  if (reader.writing === undefined) return
  const { fence, offset } = reader.writing
  const params = { generation: generationId(session, fence) }
  const options = { envelope: childEnvelope(envelope), timeoutMs: SNAPSHOT_TIMEOUT_MS }
  try {
    const { deltas } = await bus.call(generationSnapshot, params, { offset }, options)
    for (const delta of deltas) {
      const events = reader.delta(delta)
      if (events !== 'gap') yield* events
    }
  } catch (error) {
    const { code } = BusError.from(error)
    // The generation is over or its worker is gone. The log then brings the text, or a reset.
    if (code !== 'unavailable' && code !== 'deadline') throw error
  }
}

/**
 * The default cursor: before the running turn, else after the last entry. `before`: the position before the message of
 * the newest turn, or 0.
 */
export async function newestTurn(
  bus: Bus,
  session: SessionId,
  { turnEvent }: LogEnd,
): Promise<{ cursor: Cursor; before: number }> {
  let last = turnEvent
  if (last?.kind === 'unreadable') {
    // A newer version wrote this entry; an earlier entry of the turn serves as well.
    last = (await bus.sessions.read(session, 0)).findLast(({ kind }) => kind === 'turn')
  }
  if (last?.kind !== 'turn') return { cursor: cursorAfter(0), before: 0 }
  const before = last.fact.turn - 1
  const cursor = cursorAfter(last.fact.type === 'turn-done' ? last.seq : before)
  return { cursor, before }
}
