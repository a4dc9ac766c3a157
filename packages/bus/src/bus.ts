import type {
  BusError,
  CallContract,
  CatalogEntry,
  Envelope,
  EventContract,
  LogEntry,
  LogFact,
  LostRange,
  McpClientRecord,
  OpaqueCallContract,
  SessionId,
  SessionRecord,
  SubjectParams,
  TextDelta,
  ToolProgress,
} from '@mcp-host/contracts'
import type { Frame } from './frame.ts'

export interface CallOptions {
  readonly envelope: Envelope
  /** The time limit for the answer, in milliseconds. */
  readonly timeoutMs: number
}

export interface ServedRequest<Request> {
  readonly request: Request
  readonly envelope: Envelope
}

/** The caller of an opaque call. Callbacks instead of promises: this is the hottest path. */
export interface OpaqueReplyListener<Reply> {
  /** Takes a reply and returns whether more will come. An error that it throws becomes its own failure. */
  onAnswer(answer: Frame<Reply>): boolean
  /** No more comes. */
  onFailure(error: BusError): void
  /** Told again and again, many times a second, while it waits. */
  onWaiting(): void
}

/** Answers a question that was passed on; `tell` sends an answer before the last. */
export type OpaqueCallHandler<Request, Reply> = (
  question: Frame<Request> & { readonly envelope: Envelope },
  tell: (head: Reply, body: Uint8Array | string) => void,
) => Promise<{ readonly head: Reply; readonly body: Uint8Array | string }>

/** The services' interface to the broker. */
export interface Bus extends AsyncDisposable {
  /** Names this process on the bus; new at every start. */
  readonly id: string
  readonly sessions: SessionLog
  readonly directory: SessionDirectory
  readonly snapshots: Snapshots
  readonly catalog: Catalog
  readonly leases: Leases
  readonly blobs: Blobs
  readonly mcpClients: McpClients
  readonly storage: Storage

  /** Milliseconds since the end of the last outage: 0 during one, `Infinity` when there was none. */
  sinceOutageMs(): number

  /**
   * Sends a request and waits for the answer. Errors: `unavailable` without a listener, so nothing was started;
   * `deadline` without an answer in time, so the outcome is unknown; else the error of the other side.
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

  /**
   * Asks as `call` does, with a body that goes on as it is; several answers may come. `timeoutMs`: how long to wait
   * for the first, and after each for the next.
   */
  callOpaque<S extends string, Request, Reply>(
    contract: OpaqueCallContract<S, Request, Reply>,
    params: SubjectParams<S>,
    question: { readonly head: Request; readonly body: Uint8Array | string },
    options: CallOptions,
    listener: OpaqueReplyListener<Reply>,
  ): void

  /** As `serve`. */
  serveOpaque<S extends string, Request, Reply>(
    contract: OpaqueCallContract<S, Request, Reply>,
    params: SubjectParams<S>,
    handler: OpaqueCallHandler<Request, Reply>,
  ): Disposable

  /** Sends a live event to the processes that listen. */
  emit<S extends string, Payload>(
    contract: EventContract<S, Payload>,
    params: SubjectParams<S>,
    payload: Payload,
  ): void

  /** Calls with every live event that comes, also this process's own, until disposed. */
  listen<S extends string, Payload>(
    contract: EventContract<S, Payload>,
    params: SubjectParams<S>,
    listener: (payload: Payload) => void,
  ): Disposable

  /** A random secret that all processes share, constant for each name. Throws `unavailable`. */
  secret(name: string): Promise<Uint8Array>

  /** Resolves when the broker answered; rejects with `unavailable` when it does not. */
  ping(): Promise<void>
}

/** Whether what is written is kept, as far as this process sees. */
export interface Storage {
  /** Why durable writes fail while the broker answers; `undefined` when they do not. */
  fault(): string | undefined
  /** Throws `unavailable` when new work must not begin: writes fail, or the disk of the store is nearly full. */
  checkRoom(): Promise<void>
}

/** A step of following a session. `caught-up`: everything stored so far has been given. */
export type FollowItem =
  | { readonly type: 'entry'; readonly entry: LogEntry }
  | { readonly type: 'delta'; readonly delta: TextDelta }
  | { readonly type: 'progress'; readonly progress: ToolProgress }
  | { readonly type: 'caught-up' }

export interface AppendOptions {
  readonly envelope: Envelope
  /** Makes a repeated append one. Unique within the session and to its writer. */
  readonly messageId: string
  /** Append only if this is still the last sequence on the fact's subject. */
  readonly fence?: number
  /** How long to retry while the broker cannot be reached, in milliseconds. Default 30,000. */
  readonly patienceMs?: number
}

export interface ReadOptions {
  /**
   * A sequence that is known to be stored: the read waits until a replica has it, or throws `unavailable` after 30 s.
   * Later entries may be missing.
   */
  readonly through?: number
  /** At most so many, the first ones. */
  readonly limit?: number
  /** None after this sequence. */
  readonly until?: number
}

/** The outcome for a job: done, or the delay before it is redelivered. 0: at once. */
export type InputVerdict = 'done' | { readonly retryMs: number }

/** The handing out of jobs to this process. Disposing it ends that; what is in hand goes on. */
export interface InputJobs extends AsyncDisposable {
  /** The jobs in hand, as others can hand them back, the oldest first. */
  readonly held: () => string[]
}

/** The end of a session's log. */
export interface LogEnd {
  /** Its last sequence, 0 when it is empty. */
  readonly seq: number
  /** The last step of the session's turns, if there was one. */
  readonly turnEvent: LogEntry | undefined
  /** Sequences of all sessions whose entries were lost with damaged data. */
  readonly lost?: readonly LostRange[]
}

/** Numbers of entries by log. */
export interface LogCounts {
  readonly counts: ReadonlyMap<SessionId, number>
  /** Whether the broker's count of each is that of all together: else its data is damaged. */
  readonly isReliable: boolean
  /** Sequences whose entries were lost with damaged data. */
  readonly lost: readonly LostRange[]
}

/**
 * The logs of all sessions: one append-only log each, the truth about the session. While the broker is
 * away everything tries again; `unavailable` when patience ran out.
 */
export interface SessionLog {
  /** Lost ends of the log, as far as this process knows. */
  readonly lostRanges: readonly LostRange[]
  /**
   * Appends a fact and returns its sequence. Retries while the broker is away. Errors: `conflict` when another process
   * has passed the fence, `unavailable` when the retries ended (the outcome is unknown), `invalid`.
   */
  append(
    session: SessionId,
    fact: LogFact,
    options: AppendOptions,
  ): Promise<{ seq: number; duplicate: boolean }>

  /** The entries after a sequence, in order, all there were when it was called. */
  read(session: SessionId, after: number, options?: ReadOptions): Promise<LogEntry[]>

  /**
   * The last sequence of the session's log, 0 when it is empty. Asked of the stream's leader, so that
   * nothing stored is missed.
   */
  lastSequence(session: SessionId): Promise<number>

  /**
   * Whether the log says that its session was deleted: that is its last control fact. It holds until an orchestrator
   * has marked the session's record and erased the log.
   */
  isDeleted(session: SessionId): Promise<boolean>

  /** The end of the session's log, from the stream's leader, too. */
  end(session: SessionId): Promise<LogEnd>

  /** As `end`, and listens from then on: a `follow()` that begins before disposal need not look at the end again. */
  listen(session: SessionId): Promise<LogEnd & Disposable>

  /**
   * Every entry after a sequence in order, none left out and none twice, then each new one, until the
   * signal. With `deltas` also text as it is written, where a lost delta shows in the offset of the next,
   * and the progress of tools, which may be lost.
   * Throws `not-found` once the session was deleted, `unavailable` when what was given last was lost.
   */
  follow(
    session: SessionId,
    options: { after: number; deltas: boolean; signal: AbortSignal },
  ): AsyncIterable<FollowItem>

  /**
   * Hands every user message and control fact to one consumer among all processes, again until one is
   * done with it.
   */
  consumeInputs(handler: (entry: LogEntry) => Promise<InputVerdict>): Promise<InputJobs>

  /** Hands a job of a process that is gone back to the broker, so that another gets it at once. */
  handBack(job: string): void

  /** The number of entries of each session, counted by the broker without reading them. */
  counts(): Promise<LogCounts>

  /** Deletes all of a session's log. */
  purge(session: SessionId): Promise<void>
}

export interface PutRecordOptions {
  /** Writes only when this is still the revision; 0: only when there is none. */
  readonly revision?: number
  /** In whole seconds, for the mark of a deleted one: gone after that. */
  readonly ttlMs?: number
}

/**
 * Records of sessions besides their logs. Everything retries for 30 s while the broker is away, then throws
 * `unavailable`.
 */
export interface SessionDirectory {
  /** The record and the revision it was written with, asked of the leader: replicas may lag. */
  get(
    session: SessionId,
  ): Promise<{ readonly record: SessionRecord; readonly revision: number } | undefined>
  /** Writes and returns the revision. Throws `conflict` when another wrote since the one given. */
  put(record: SessionRecord, options?: PutRecordOptions): Promise<number>
  remove(session: SessionId): Promise<void>
  /** The records of clients that are asked for, kept up to date until the bus is closed. */
  watch(): Promise<DirectoryView>
}

/** It may lag behind. */
export interface DirectoryView {
  readonly records: ReadonlyMap<SessionId, SessionRecord>
}

/**
 * One snapshot of each session's folded state; the newest wins. Kept 30 days. Errors and patience as of
 * blobs.
 */
export interface Snapshots {
  put(session: SessionId, bytes: Uint8Array): Promise<void>
  get(session: SessionId): Promise<Uint8Array | undefined>
  /** What is not there is no error. */
  remove(session: SessionId): Promise<void>
}

/** The present state of the host: servers with their tools, the default model, and the processes that run them. */
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

/** Records of MCP clients' sessions, kept for a week after the last change. */
export interface McpClients {
  /**
   * Writes what a change makes of a client's record, once more when another wrote at the same time. Throws
   * `unavailable`.
   */
  change(id: string, change: (record: McpClientRecord) => McpClientRecord): Promise<void>
  /** All records, kept up to date until the bus is closed. Resolves once the present ones are in. */
  watch(): Promise<McpClientView>
}

/** It has what this process wrote, and may lag behind what others did. */
export interface McpClientView {
  /** The record of a client that was read; `undefined`: it was not, or was forgotten since. */
  get(client: string): McpClientRecord | undefined
  /** Reads the record of a client; `undefined`: it is here. Throws `unavailable`. */
  read(client: string): Promise<void> | undefined
  /** Keeps the record of a client that was read from being forgotten, until disposed. */
  hold(client: string): Disposable
  /** Calls after each change, until disposed. */
  readonly onChange: (listener: () => void) => Disposable
}

/** The stored holder of a lease. */
export interface LeaseRecord {
  /** A process's id on the bus. */
  readonly holder: string
  /** Grows with every renewal. */
  readonly revision: number
}

/**
 * Mutual exclusion between processes. A lease ends when its holder does not renew it. Everything here throws
 * `unavailable` when the broker cannot be reached.
 */
export interface Leases {
  /**
   * The lease, or `undefined` while another process holds it. `ttlMs` counts in whole seconds. `isFixed`: it
   * is not renewed, and so ends after that time.
   */
  acquire(
    key: string,
    options: { readonly ttlMs: number; readonly isFixed?: boolean },
  ): Promise<Lease | undefined>
  /** Replaces the lease of a holder that is dead; `undefined` when it was renewed or taken meanwhile. */
  take(
    key: string,
    deadHolderRevision: number,
    options: { readonly ttlMs: number },
  ): Promise<Lease | undefined>
  /** The present holder, from the stream's leader: replicas may lag. */
  holder(key: string): Promise<LeaseRecord | undefined>
  /** The leases whose keys match, such as `server.*`, kept up to date until the bus is closed. */
  watch(pattern: string): Promise<LeaseView>
}

/** A lease of this process. It renews itself, unless it is of a fixed time. */
export interface Lease extends AsyncDisposable {
  readonly key: string
  readonly revision: number
  /**
   * Whether no other process can hold it, by the local clock. False while the broker cannot be reached, and until the
   * lease was confirmed after that.
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

/** Metadata of a stored value. */
export interface BlobAbout {
  /** Whose part it is. */
  readonly session?: SessionId
  /** Such as `image/png`. */
  readonly mimeType?: string
  /** The file's name. */
  readonly name?: string
}

/**
 * Values that are too large for a message, kept for 30 days. While the broker is away all try again for
 * 30 s, then `unavailable`. Throws `exhausted` when the broker has no room.
 */
export interface Blobs {
  put(bytes: Uint8Array, about?: BlobAbout): Promise<StoredBlob>
  /** The metadata of a value; `undefined` when it is missing. */
  find(key: string): Promise<(StoredBlob & Omit<BlobAbout, 'session'>) | undefined>
  /** The caller's own to use up. Throws `not-found`. */
  get(key: string): Promise<Uint8Array<ArrayBuffer>>
  /** A missing key is not an error. */
  remove(key: string): Promise<void>
  /** Removes all that was stored for a session. Reads the names of all blobs. */
  removeAll(session: SessionId): Promise<void>
}
