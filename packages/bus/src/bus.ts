import type {
  CallContract,
  CatalogEntry,
  Envelope,
  EventContract,
  LogEntry,
  LogFact,
  SessionId,
  SubjectParams,
  TextDelta,
} from '@mcp-host/contracts'

export interface CallOptions {
  readonly envelope: Envelope
  /** How long to wait for the answer. */
  readonly timeoutMs: number
}

export interface ServedRequest<Request> {
  readonly request: Request
  readonly envelope: Envelope
}

/** What the services know of the broker. */
export interface Bus extends AsyncDisposable {
  /** Names this process on the bus; new at every start. */
  readonly id: string
  readonly sessions: SessionLog
  readonly catalog: Catalog
  readonly leases: Leases
  readonly blobs: Blobs

  /**
   * How long ago the last outage of the broker was over, in milliseconds: 0 during one, `Infinity` when
   * this process has seen none.
   */
  sinceOutageMs(): number

  /**
   * Asks and waits for the answer. Errors: `unavailable` when nobody listens, so nothing was started;
   * `deadline` when no answer came in time, so whether it was started is not known; else what the
   * answering side reported.
   */
  call<S extends string, Request, Reply>(
    contract: CallContract<S, Request, Reply>,
    params: SubjectParams<S>,
    request: Request,
    options: CallOptions,
  ): Promise<Reply>

  /**
   * Answers calls until disposed; what the broker has handed over by then and was not begun is answered
   * with `unavailable`. A handler's error becomes the answer.
   */
  serve<S extends string, Request, Reply>(
    contract: CallContract<S, Request, Reply>,
    params: SubjectParams<S>,
    handler: (served: ServedRequest<Request>) => Promise<Reply> | Reply,
  ): Disposable

  /** Sends a live event to whoever listens now. */
  emit<S extends string, Payload>(
    contract: EventContract<S, Payload>,
    params: SubjectParams<S>,
    payload: Payload,
  ): void

  /** Resolves when the broker answered; rejects with `unavailable` when it does not. */
  ping(): Promise<void>
}

/** A step of following a session. `caught-up`: everything stored so far has been given. */
export type FollowItem =
  | { readonly type: 'entry'; readonly entry: LogEntry }
  | { readonly type: 'delta'; readonly delta: TextDelta }
  | { readonly type: 'caught-up' }

export interface AppendOptions {
  readonly envelope: Envelope
  /** Makes a repeated append one. Unique within the session and to its writer. */
  readonly messageId: string
  /** Append only if this is still the last sequence on the fact's subject. */
  readonly fence?: number
  /** How long to go on trying while the broker cannot be reached. Default 30,000. */
  readonly patienceMs?: number
}

/**
 * The logs of all sessions: one append-only log each, the truth about the session. While the broker is
 * away everything tries again; `unavailable` when patience ran out.
 */
export interface SessionLog {
  /**
   * Appends a fact and returns its sequence. Tries again while the broker is away. Errors: `conflict`
   * when the fence was passed by somebody else, `unavailable` when patience ran out (the outcome is not
   * known), `invalid`.
   */
  append(
    session: SessionId,
    fact: LogFact,
    options: AppendOptions,
  ): Promise<{ seq: number; duplicate: boolean }>

  /** The entries after a sequence, in order, all there were when it was called. */
  read(session: SessionId, after: number): Promise<LogEntry[]>

  /** The last sequence of the session's log, 0 when it is empty. */
  lastSequence(session: SessionId): Promise<number>

  /** The last step of the session's turns, if there was one. */
  lastTurnEvent(session: SessionId): Promise<LogEntry | undefined>

  /**
   * Every entry after a sequence in order, none left out and none twice, then what comes, until the
   * signal. With `deltas` also text as it is written; a lost delta shows in the offset of the next.
   */
  follow(
    session: SessionId,
    options: { after: number; deltas: boolean; signal: AbortSignal },
  ): AsyncIterable<FollowItem>

  /**
   * Hands every accepted user message to one consumer among all processes, again until one is done
   * with it. The handler answers `'done'`, or when to try again.
   */
  consumeInputs(
    handler: (entry: LogEntry) => Promise<'done' | { retryMs: number }>,
  ): Promise<AsyncDisposable>
}

/** What the host can do right now: servers with their tools, the default model, who runs what. */
export interface Catalog {
  /** With `ttlMs`, in whole seconds, it is gone unless it is put again in time. */
  put(entry: CatalogEntry, options?: { readonly ttlMs?: number }): Promise<void>
  remove(entry: CatalogEntry): Promise<void>
  /** All entries, kept up to date until the bus is closed. Resolves once the present ones are in. */
  watch(): Promise<CatalogView>
}

export interface CatalogView {
  readonly entries: ReadonlyMap<string, CatalogEntry>
  /** Calls after each change, until disposed. */
  readonly onChange: (listener: () => void) => Disposable
}

/** Who holds a lease, as it is stored. */
export interface LeaseRecord {
  /** A process's id on the bus. */
  readonly holder: string
  /** Grows with every renewal. */
  readonly revision: number
}

/**
 * What one process at a time may do, as long as it lives. A lease ends by itself when its holder does not
 * renew it. Everything here throws `unavailable` when the broker cannot be reached.
 */
export interface Leases {
  /** The lease, or `undefined` while another process holds it. `ttlMs` counts in whole seconds. */
  acquire(key: string, options: { readonly ttlMs: number }): Promise<Lease | undefined>
  /** Replaces the lease of a holder that is dead; `undefined` when it was renewed or taken meanwhile. */
  take(
    key: string,
    deadHolderRevision: number,
    options: { readonly ttlMs: number },
  ): Promise<Lease | undefined>
  /** Who holds it now, asked of the stream's leader: replicas may lag. */
  holder(key: string): Promise<LeaseRecord | undefined>
  /** The leases whose keys match, such as `server.*`, kept up to date until the bus is closed. */
  watch(pattern: string): Promise<LeaseView>
}

/** A lease of this process. It renews itself. */
export interface Lease extends AsyncDisposable {
  readonly key: string
  readonly revision: number
  /**
   * Whether nobody else can hold it now, by our own clock. False while the broker cannot be reached and
   * until it confirmed the lease after that: others may have taken its holder for dead.
   */
  readonly isHeld: boolean
  /** Aborts when another took it, or when it could not be renewed in time. */
  readonly lost: AbortSignal
  /** Ends it, so that others need not wait for its time to pass. Never throws. */
  release(): Promise<void>
}

/** It may lag behind. */
export interface LeaseView {
  readonly holders: ReadonlyMap<string, LeaseRecord>
  /** Calls after each change of a holder, until disposed. */
  readonly onChange: (listener: () => void) => Disposable
}

/** A value that is too large for a message; what is sent instead. */
export interface StoredBlob {
  readonly key: string
  readonly bytes: number
  /** `SHA-256=…` */
  readonly digest: string
}

/**
 * Values that are too large for a message, kept for 30 days. While the broker is away both try again for
 * 30 s, then `unavailable`. Throws `exhausted` when the broker has no room.
 */
export interface Blobs {
  /** Stores it, as part of a session where one is given. */
  put(bytes: Uint8Array, about?: { readonly session?: SessionId }): Promise<StoredBlob>
  /** Throws `not-found`. */
  get(key: string): Promise<Uint8Array>
}
