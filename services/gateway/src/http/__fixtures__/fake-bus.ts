import type { Bucket, Bus, FollowItem } from '@mcp-host/bus'
import type {
  BucketDefinition,
  Envelope,
  HistoryMessage,
  LogEntry,
  LogFact,
  SessionId,
} from '@mcp-host/contracts'
import { BusError, newEnvelope } from '@mcp-host/contracts'
import { endOf } from '../../projection/__fixtures__/story.ts'

/** The parts of the bus that the HTTP API uses: one log in memory, and an orchestrator that only answers calls. */
export class FakeBus {
  readonly entries: LogEntry[] = []
  readonly calls: { readonly subject: string; readonly request: unknown }[] = []
  /** Of the calls. */
  readonly envelopes: Envelope[] = []
  /** Answers of calls by their subjects; an error is thrown. */
  readonly replies = new Map<string, unknown>()
  isDeleted = false
  isExpired = false
  /** The error of every append and call. */
  fault: BusError | undefined
  readonly #listeners = new Set<() => void>()

  readonly sessions = {
    append: async (session: SessionId, fact: LogFact, { messageId }: { messageId: string }) => {
      if (this.fault !== undefined) throw this.fault
      return this.store(session, fact, messageId)
    },
    read: async (_: SessionId, after: number) => this.entries.filter(({ seq }) => seq > after),
    end: async () => endOf(this.entries),
    listen: async () => ({ ...endOf(this.entries), [Symbol.dispose]: () => undefined }),
    isDeleted: async () => this.entries.some(({ fact }) => isDeletion(fact)),
    lastSequence: async () => this.entries.at(-1)?.seq ?? 0,
    follow: (_: SessionId, options: { after: number; signal: AbortSignal }) =>
      this.#follow(options),
  }

  /** Without entries. */
  readonly audit = { read: async function* () {}, readBack: async function* () {} }

  readonly storage = { checkRoom: () => Promise.resolve() }

  readonly directory = {
    get: async () =>
      this.isDeleted
        ? { record: { state: 'deleted', isExpired: this.isExpired }, revision: 1 }
        : undefined,
  }

  readonly #files = new Map<string, Uint8Array & { about?: object }>()
  readonly blobs = {
    put: async (bytes: Uint8Array, { session, ...about }: { session: string }) => {
      const key = `${session}.${crypto.randomUUID()}`
      this.#files.set(key, Object.assign(bytes, { about }))
      return { key, bytes: bytes.length, digest: 'd' }
    },
    find: async (key: string) => {
      const found = this.#files.get(key)
      return found && { key, bytes: found.length, digest: 'd', ...found.about }
    },
    read: (key: string) => [this.#files.get(key) ?? new Uint8Array()],
  }

  readonly #holds: (() => void)[] = []
  /** The ids of appended messages, until the broker forgets them. */
  readonly #ids = new Map<string, number>()

  async call(
    { subject }: { subject: string },
    _: unknown,
    request: unknown,
    { envelope }: { envelope: Envelope },
  ): Promise<unknown> {
    this.calls.push({ subject, request })
    this.envelopes.push(envelope)
    if (this.fault !== undefined) throw this.fault
    const set = this.replies.get(subject)
    if (set instanceof Error) throw set
    const reply = subject === 'session.history' ? this.#history(request) : set
    if (reply === undefined) throw new BusError('not-found', `${subject}: no such session`)
    return reply
  }

  /** Freezes all views: they do not show later changes. */
  holdViews(): void {
    for (const hold of this.#holds) hold()
  }

  readonly clock = { now: () => Date.now(), offsetMs: () => 0, state: () => 'right' as const }

  /** A bucket in memory. Its records pass their schema, as at the broker. */
  async bucket<T>({ record: schema }: BucketDefinition<T>): Promise<Bucket<T>> {
    const records = new Map<string, T>()
    let shown = records
    this.#holds.push(() => (shown = new Map(records)))
    const revisions = new Map<string, number>()
    const listeners = new Set<() => void>()
    let last = 0
    return {
      now: () => this.clock.now(),
      get: async (key) => {
        const record = records.get(key)
        return record === undefined ? undefined : { record, revision: revisions.get(key) ?? 0 }
      },
      put: async (key, record, { revision } = {}) => {
        if (revision !== undefined && revision !== (revisions.get(key) ?? 0)) {
          throw new BusError('conflict', 'changed by another process; read again')
        }
        records.set(key, schema.parse(record))
        revisions.set(key, ++last)
        return last
      },
      remove: async (key) => {
        records.delete(key)
        revisions.delete(key)
        for (const listener of listeners) listener()
      },
      watch: async () => ({
        get records() {
          return shown
        },
        onChange: (listener) => {
          listeners.add(listener)
          return { [Symbol.dispose]: () => listeners.delete(listener) }
        },
      }),
    }
  }

  /** Only the parts that the gateway uses. */
  asBus(): Bus {
    return this as unknown as Bus
  }

  store(
    session: SessionId,
    fact: LogFact,
    messageId?: string,
  ): { seq: number; duplicate: boolean } {
    const known = this.#ids.get(messageId ?? '')
    if (known !== undefined) return { seq: known, duplicate: true }
    const seq = this.entries.length + 1
    this.entries.push({ ...fact, session, seq, time: seq, envelope: newEnvelope('local') })
    if (messageId !== undefined) this.#ids.set(messageId, seq)
    for (const wake of this.#listeners) wake()
    return { seq, duplicate: false }
  }

  /** Forgets ids, as the broker does after a while. */
  forgetIds(): void {
    this.#ids.clear()
  }

  async *#follow(options: { after: number; signal: AbortSignal }): AsyncGenerator<FollowItem> {
    const { signal } = options
    let { after } = options
    while (!signal.aborted) {
      for (const entry of this.entries.filter(({ seq }) => seq > after)) {
        after = entry.seq
        yield { type: 'entry', entry }
      }
      yield { type: 'caught-up' }
      if (this.entries.length > after) continue
      await new Promise<void>((resolve) => {
        this.#listeners.add(resolve)
        signal.addEventListener('abort', () => resolve())
        if (signal.aborted) resolve()
      })
    }
  }

  /** One message of the log, or the one that the test sets. */
  #history(request: unknown): unknown {
    const { only } = request as { only?: string }
    if (only === undefined) return this.replies.get('session.history')
    const input = this.entries.find((entry) => entry.kind === 'input' && entry.fact.id === only)
    if (input?.kind !== 'input') return undefined
    const isDone = this.entries.some(
      ({ kind, fact }) => kind === 'turn' && fact.type === 'turn-done' && fact.turn === input.seq,
    )
    const message: HistoryMessage = {
      id: only,
      role: 'user',
      createdAt: input.time,
      content: input.fact.text,
      metadata: {
        messageId: only,
        state: isDone ? 'done' : 'running',
        ...(input.fact.attachments === undefined ? {} : { attachments: input.fact.attachments }),
      },
    }
    return { messages: [message] }
  }
}

function isDeletion(fact: LogEntry['fact']): boolean {
  return fact !== undefined && 'type' in fact && fact.type === 'session-deleted'
}
