import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { setSha256Backend } from '@nats-io/obj'
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import type {
  CallContract,
  Envelope,
  EventContract,
  OpaqueCallContract,
  SubjectParams,
} from '@mcp-host/contracts'
import { BusError, fillSubject } from '@mcp-host/contracts'
import type {
  Bus,
  CallOptions,
  OpaqueCallHandler,
  OpaqueReplyListener,
  ServedRequest,
  SessionDirectory,
  Snapshots,
} from './bus.ts'
import {
  decode,
  encode,
  envelopeHeaders,
  errorReply,
  readEnvelope,
  throwErrorReply,
} from './codec.ts'
import { connectNats, inboxPrefix } from './connect.ts'
import { decodeFrame, encodeFrame, withEnvelope } from './frame.ts'
import { BLOB_BUCKET, NatsBlobs } from './nats-blobs.ts'
import { CATALOG_BUCKET, NatsCatalog } from './nats-catalog.ts'
import { DIRECTORY_BUCKET, NatsDirectory } from './nats-directory.ts'
import { isAlone, toBusError } from './nats-error.ts'
import { LEASE_BUCKET, NatsLeases } from './nats-leases.ts'
import { MCP_CLIENT_BUCKET, MCP_CLIENT_MS, NatsMcpClients } from './nats-mcp-clients.ts'
import { readSecret, SECRET_BUCKET } from './nats-secrets.ts'
import { LOG_HEAD_BUCKET, NatsLogHead } from './nats-log-head.ts'
import { partnerName } from './partner-name.ts'
import { NatsSessionLog } from './nats-session-log.ts'
import { NatsSnapshots, SNAPSHOT_BUCKET } from './nats-snapshots.ts'
import type { Asker } from './reply-inbox.ts'
import { ReplyInbox } from './reply-inbox.ts'
import type { StoreFolder } from './storage-health.ts'
import { StorageHealth } from './storage-health.ts'
import { ensureStreams, openBucket, openStore } from './streams.ts'

/** A broker that lives answers long before; unanswered requests are repeated. */
const ANSWER_LIMIT_MS = 2_000

/** How long snapshots and blobs are kept after their writing; stores of an earlier version keep them without limit. */
const KEPT_MS = 30 * 24 * 3_600_000

const LOST_END =
  'the end of the session logs is lost: the data of nats-server was damaged; run npm run doctor'

const CATALOG_PATIENCE_MS = 2_000

/** The log of the bus; a pino logger fits. */
export interface BusLogger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface ConnectBusOptions {
  /** `nats://[token@]host:port`, several separated by commas. */
  readonly url: string
  /** The service's name; the process's id is made from it. */
  readonly name: string
  readonly logger: BusLogger
  /** The replicas of each message in a cluster, 1 to 5. Default 1. */
  readonly replicas?: number
  /** The broker's data folder, when it is on this machine. */
  readonly store?: StoreFolder | undefined
}

/** Connects, creates what is missing on the broker, and stays connected over its restarts. */
export async function connectBus({
  url,
  name,
  logger,
  replicas = 1,
  store: folder,
}: ConnectBusOptions): Promise<Bus> {
  // Ten times as fast as its own, which every blob goes through.
  setSha256Backend('native')
  const id = `${name}-${crypto.randomUUID().slice(0, 8)}`
  const connection = await connectNats(url, id)
  const warn = (error: unknown, action: string): void => {
    logger.warn({ component: 'bus', action, err: error }, 'bus trouble')
  }
  try {
    const options = { timeout: ANSWER_LIMIT_MS }
    const manager = await jetstreamManager(connection, { ...options, checkAPI: false })
    const client = jetstream(connection, options)
    const storage = new StorageHealth({
      jetstream: client,
      manager,
      folder,
      isConnected: () => connection.info !== undefined && !connection.isClosed(),
      onFault: (fault) => {
        const fields = { component: 'bus', action: 'store' }
        if (fault === undefined) logger.info(fields, 'what is written is stored again')
        else logger.error(fields, fault)
      },
    })
    const head = new NatsLogHead({
      connection,
      jetstream: client,
      manager,
      warn,
      onLoss: (range) =>
        logger.error({ component: 'bus', action: 'check-log', ...range }, LOST_END),
    })
    const kept = { replicas, maxAgeMs: KEPT_MS }
    const [catalogBucket, leaseBucket, directoryBucket, snapshotBucket, clientBucket, store] =
      await Promise.all([
        openBucket(client, manager, CATALOG_BUCKET, { replicas }),
        openBucket(client, manager, LEASE_BUCKET, { replicas }),
        openBucket(client, manager, DIRECTORY_BUCKET, { replicas }),
        openBucket(client, manager, SNAPSHOT_BUCKET, kept),
        openBucket(client, manager, MCP_CLIENT_BUCKET, { replicas, maxAgeMs: MCP_CLIENT_MS }),
        openStore(client, manager, BLOB_BUCKET, kept),
        ensureStreams(manager, { replicas }),
        openBucket(client, manager, LOG_HEAD_BUCKET, { replicas }),
      ])
    await head.check()
    const broker = { connection, jetstream: client, manager, warn }
    const inbox = new ReplyInbox(connection, inboxPrefix(id))
    const blobs = new NatsBlobs({ store, connection, manager, inbox })
    const sessions = new NatsSessionLog({ ...broker, inbox, storage, head })
    const bus = new NatsBus({
      id,
      connection,
      inbox,
      sessions,
      directory: new NatsDirectory({ ...broker, bucket: directoryBucket }),
      snapshots: new NatsSnapshots({ ...broker, bucket: snapshotBucket, blobs }),
      catalog: new NatsCatalog({
        bucket: catalogBucket,
        jetstream: client,
        // Short, because the publisher and the readers of an entry retry by themselves.
        blobs: new NatsBlobs(
          { store, connection, manager, inbox },
          { patienceMs: CATALOG_PATIENCE_MS },
        ),
        isClosed: () => connection.isClosed(),
        warn,
      }),
      leases: new NatsLeases({ ...broker, id, bucket: leaseBucket }),
      blobs,
      storage,
      head,
      mcpClients: new NatsMcpClients({ ...broker, bucket: clientBucket }),
      readSecret: (secret) =>
        readSecret(
          { ...broker, open: () => openBucket(client, manager, SECRET_BUCKET, { replicas }) },
          secret,
        ),
      warn,
    })
    void bus.watchConnection(logger)
    return bus
  } catch (error) {
    await connection.close()
    if (error instanceof BusError) throw error
    if (isAlone(error)) {
      const message = `nats-server is no cluster and cannot keep ${replicas} replicas; set NATS_REPLICAS=1`
      throw new BusError('invalid', message, { cause: error })
    }
    // Such as a broker that has just started, or has no leader yet: asked again, it may be ready.
    const said = error instanceof Error ? error.message : String(error)
    const message = `nats-server is not ready: ${said}; if it stays so, its data may be damaged: npm run doctor`
    throw new BusError('unavailable', message, { cause: error })
  }
}

/** Connects the reply inbox with the caller of an opaque call. */
class PassageAsker<Reply> implements Asker {
  readonly quietMs: number
  readonly #contract: Pick<OpaqueCallContract<string, never, Reply>, 'subject' | 'reply'>
  readonly #listener: OpaqueReplyListener<Reply>

  constructor(
    contract: Pick<OpaqueCallContract<string, never, Reply>, 'subject' | 'reply'>,
    quietMs: number,
    listener: OpaqueReplyListener<Reply>,
  ) {
    this.#contract = contract
    this.quietMs = quietMs
    this.#listener = listener
  }

  onAnswer(message: Msg): boolean {
    throwErrorReply(message)
    return !this.#listener.onAnswer(decodeFrame(this.#contract.reply, message.data, 'the answer'))
  }

  onFailure(error: unknown): void {
    this.#listener.onFailure(toBusError(error, partnerName(this.#contract.subject)))
  }

  onWaiting(): void {
    this.#listener.onWaiting()
  }
}

/** For error messages: callers know no subjects. */
function requestTo({ subject }: { readonly subject: string }): string {
  return `the request to the ${partnerName(subject)}`
}

function checkDeadline({ deadline }: Envelope, what: string): void {
  if (deadline !== undefined && deadline < Date.now()) {
    throw new BusError('deadline', `${what} came too late`)
  }
}

interface NatsBusDeps {
  readonly id: string
  readonly connection: NatsConnection
  readonly inbox: ReplyInbox
  readonly sessions: NatsSessionLog
  readonly directory: SessionDirectory
  readonly snapshots: Snapshots
  readonly catalog: NatsCatalog
  readonly leases: NatsLeases
  readonly blobs: NatsBlobs
  readonly mcpClients: NatsMcpClients
  readonly storage: StorageHealth
  readonly head: NatsLogHead
  readonly readSecret: (name: string) => Promise<Uint8Array>
  readonly warn: (error: unknown, action: string) => void
}

class NatsBus implements Bus {
  readonly id: string
  readonly sessions: NatsSessionLog
  readonly directory: SessionDirectory
  readonly snapshots: Snapshots
  readonly catalog: NatsCatalog
  readonly leases: NatsLeases
  readonly blobs: NatsBlobs
  readonly mcpClients: NatsMcpClients
  readonly storage: StorageHealth
  readonly #head: NatsLogHead
  readonly #readSecret: (name: string) => Promise<Uint8Array>
  readonly #connection: NatsConnection
  readonly #inbox: ReplyInbox
  readonly #warn: (error: unknown, action: string) => void
  /** When the last outage ended, by `performance.now()`; `undefined` during one. */
  #outageEnd: number | undefined = -Infinity
  /** Live events of this round of the event loop: they leave in one write, which is what costs. */
  #outbox: { subject: string; data: Uint8Array }[] = []

  constructor({ id, connection, warn, ...parts }: NatsBusDeps) {
    this.id = id
    this.#connection = connection
    this.#inbox = parts.inbox
    this.sessions = parts.sessions
    this.directory = parts.directory
    this.snapshots = parts.snapshots
    this.catalog = parts.catalog
    this.leases = parts.leases
    this.blobs = parts.blobs
    this.mcpClients = parts.mcpClients
    this.storage = parts.storage
    this.#head = parts.head
    this.#readSecret = parts.readSecret
    this.#warn = warn
  }

  secret(name: string): Promise<Uint8Array> {
    return this.#readSecret(name)
  }

  sinceOutageMs(): number {
    return this.#outageEnd === undefined ? 0 : performance.now() - this.#outageEnd
  }

  /** Follows the connection until it is closed. */
  async watchConnection(logger: BusLogger): Promise<void> {
    for await (const status of this.#connection.status()) {
      if (status.type === 'disconnect') {
        logger.warn({ component: 'bus', action: 'disconnect' }, 'nats-server is gone, reconnecting')
        this.#outageEnd = undefined
        this.#head.interrupted()
        this.sessions.interrupted()
        this.leases.interrupted()
      } else if (status.type === 'reconnect') {
        logger.info({ component: 'bus', action: 'reconnect' }, 'nats-server is back')
        this.#outageEnd = performance.now()
        this.storage.reset()
        // Sessions look only once it is known what was lost.
        void this.#head.recheck().then(() => this.sessions.checkAll())
        this.leases.checkAll()
      } else if (status.type === 'error' || status.type === 'slowConsumer') {
        const fields = { component: 'bus', action: status.type, status }
        logger.error(fields, 'nats-server reports trouble')
      }
    }
  }

  async call<S extends string, Request, Reply>(
    contract: CallContract<S, Request, Reply>,
    params: SubjectParams<S>,
    request: Request,
    { envelope, timeoutMs }: CallOptions,
  ): Promise<Reply> {
    const subject = fillSubject(contract.subject, params)
    const partner = partnerName(contract.subject)
    const data = encode(contract.request, request, requestTo(contract))
    try {
      const headers = envelopeHeaders(envelope)
      const reply = await this.#inbox.request(subject, data, { timeoutMs, headers })
      throwErrorReply(reply)
      return decode(contract.reply, reply.data, `the answer of the ${partner}`)
    } catch (error) {
      throw toBusError(error, partner)
    }
  }

  serve<S extends string, Request, Reply>(
    contract: CallContract<S, Request, Reply>,
    params: SubjectParams<S>,
    handler: (served: ServedRequest<Request>) => Promise<Reply> | Reply,
  ): Disposable {
    const what = requestTo(contract)
    return this.#answer(contract, params, async (message) => {
      const request = decode(contract.request, message.data, what)
      const envelope = readEnvelope(message, what)
      checkDeadline(envelope, what)
      return encode(contract.reply, await handler({ request, envelope }), `answer to ${what}`)
    })
  }

  /** Answers every message on a contract's subject until disposed. */
  #answer<S extends string>(
    { subject: what, answeredBy }: { readonly subject: S; readonly answeredBy: 'group' | 'one' },
    params: SubjectParams<S>,
    answer: (message: Msg) => Promise<Uint8Array>,
  ): Disposable {
    let isOpen = true
    const respond = async (message: Msg): Promise<void> => {
      try {
        if (!isOpen) {
          throw new BusError('unavailable', `the ${partnerName(what)} is closing; try again`)
        }
        message.respond(await answer(message))
      } catch (error) {
        // Also of an answer that is too large to be sent.
        const known = BusError.from(error)
        if (known.code === 'internal') this.#warn(error, `serve ${what}`)
        const { data, headers } = errorReply(known)
        message.respond(data, { headers })
      }
    }
    const subscription = this.#connection.subscribe(fillSubject(what, params), {
      ...(answeredBy === 'group' ? { queue: 'replicas' } : {}),
      callback: (failure, message) => {
        if (failure === null) void respond(message)
        else this.#warn(failure, `serve ${what}`)
      },
    })
    return {
      [Symbol.dispose]: () => {
        isOpen = false
        // Messages that were delivered are still answered. Fails when the connection is closed.
        subscription.drain().catch(() => undefined)
      },
    }
  }

  callOpaque<S extends string, Request, Reply>(
    contract: OpaqueCallContract<S, Request, Reply>,
    params: SubjectParams<S>,
    { head, body }: { readonly head: Request; readonly body: Uint8Array | string },
    { envelope, timeoutMs }: CallOptions,
    listener: OpaqueReplyListener<Reply>,
  ): void {
    const asker = new PassageAsker(contract, timeoutMs, listener)
    try {
      const subject = fillSubject(contract.subject, params)
      // Messages during an outage would be dropped at the reconnect.
      if (this.sinceOutageMs() === 0) throw new BusError('unavailable', 'nats-server is away')
      this.#inbox.begin(subject, encodeFrame([envelope, head], body), asker)
    } catch (error) {
      asker.onFailure(error)
    }
  }

  serveOpaque<S extends string, Request, Reply>(
    contract: OpaqueCallContract<S, Request, Reply>,
    params: SubjectParams<S>,
    handler: OpaqueCallHandler<Request, Reply>,
  ): Disposable {
    const what = requestTo(contract)
    return this.#answer(contract, params, async (message) => {
      const { head, body } = decodeFrame(withEnvelope(contract.request), message.data, what)
      const [envelope, request] = head
      checkDeadline(envelope, what)
      const last = await handler({ head: request, body, envelope }, (part, partBody) => {
        message.respond(encodeFrame(part, partBody))
      })
      return encodeFrame(last.head, last.body)
    })
  }

  emit<S extends string, Payload>(
    contract: EventContract<S, Payload>,
    params: SubjectParams<S>,
    payload: Payload,
  ): void {
    const subject = fillSubject(contract.subject, params)
    this.#outbox.push({ subject, data: encode(contract.payload, payload, 'the event') })
    if (this.#outbox.length === 1) setImmediate(() => this.#sendOutbox())
  }

  listen<S extends string, Payload>(
    contract: EventContract<S, Payload>,
    params: SubjectParams<S>,
    listener: (payload: Payload) => void,
  ): Disposable {
    const subscription = this.#connection.subscribe(fillSubject(contract.subject, params), {
      callback: (failure, { data }) => {
        try {
          if (failure !== null) throw failure
          listener(decode(contract.payload, data, contract.subject))
        } catch (error) {
          // Invalid messages are skipped.
          this.#warn(error, `listen to ${contract.subject}`)
        }
      },
    })
    return { [Symbol.dispose]: () => subscription.unsubscribe() }
  }

  #sendOutbox(): void {
    const messages = this.#outbox
    this.#outbox = []
    // Live events may be lost, also at the end.
    if (this.#connection.isClosed()) return
    for (const { subject, data } of messages) {
      try {
        this.#connection.publish(subject, data)
      } catch (error) {
        // Such as one that is too large: the others are sent.
        this.#warn(error, `emit ${subject}`)
      }
    }
  }

  async ping(): Promise<void> {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new Error('timed out')), 1_000)
    try {
      await Promise.race([this.#connection.flush(), late.promise])
    } catch (error) {
      throw new BusError('unavailable', 'nats-server does not answer', { cause: error })
    } finally {
      clearTimeout(timer)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.leases.close()
    this.storage[Symbol.dispose]()
    await this.#head.close()
    await this.#connection.close()
  }
}
