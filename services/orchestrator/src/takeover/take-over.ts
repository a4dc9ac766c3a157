import { isDeepStrictEqual } from 'node:util'
import type { Bus, InputJobs } from '@mcp-host/bus'
import {
  newEnvelope,
  newSessionId,
  orchestratorControl,
  orchestratorJobs,
} from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import type { OrchestratorEvents } from '../events.ts'
import { probe } from '../turn/probe.ts'

const TICK_MS = 250
/** The heartbeat period with unchanged jobs. */
const BUSY_MS = 500
const IDLE_MS = 1_000
/** An orchestrator with jobs that is silent for longer is pinged. */
const QUIET_MS = 1_000
/** Two heartbeat periods of an idle orchestrator. */
const PRESENT_MS = 2 * IDLE_MS
/** A peer that is silent for longer is forgotten: the broker has redelivered its jobs. */
const FORGET_MS = 6_000
/** After an outage of the broker, the time until heartbeats of all living peers have arrived. */
const STEADY_MS = 2_000

/**
 * The number of jobs in one heartbeat, to fit into a message of 1 MiB at about 100 bytes each: the oldest ones, which
 * are in progress. The broker redelivers the others by itself.
 */
const MAX_JOBS = 5_000

export interface TakeOverDeps {
  readonly bus: Bus
  readonly logger: Logger
  readonly inputs: Pick<InputJobs, 'held'>
  readonly events: Pick<OrchestratorEvents, 'jobsTakenOver'>
  /** Whether an orchestrator answers a ping or its repetition. */
  readonly isAlive?: (orchestrator: string) => Promise<boolean>
}

interface Peer {
  jobs: readonly string[]
  /** The time of the last heartbeat, by `performance.now()`. */
  heardAt: number
  isAsked: boolean
  isDead: boolean
}

/**
 * Hands the jobs of dead orchestrators back to the broker, which would notice only after seconds. Orchestrators send
 * heartbeats with their jobs; one that is silent and does not answer a ping is dead. A false alarm is harmless: turns
 * are claimed in the log.
 */
export class TakeOver implements AsyncDisposable {
  readonly #deps: TakeOverDeps
  readonly #peers = new Map<string, Peer>()
  readonly #listening: Disposable
  readonly #timer: NodeJS.Timeout
  #sentJobs: readonly string[] = []
  #sentAt = -Infinity

  constructor(deps: TakeOverDeps) {
    this.#deps = deps
    this.#listening = deps.bus.listen(orchestratorJobs, {}, ({ orchestrator, jobs }) => {
      if (orchestrator !== deps.bus.id) this.#heard(orchestrator, jobs)
    })
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
    this.#tick()
  }

  /** Sends a last heartbeat without jobs. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    this.#listening[Symbol.dispose]()
    this.#sendHeartbeat([])
  }

  #heard(orchestrator: string, jobs: readonly string[]): void {
    const isAsked = this.#peers.get(orchestrator)?.isAsked ?? false
    this.#peers.set(orchestrator, { jobs, heardAt: performance.now(), isAsked, isDead: false })
  }

  #tick(): void {
    const now = performance.now()
    const jobs = this.#deps.inputs.held().slice(0, MAX_JOBS)
    const everyMs = jobs.length === 0 ? IDLE_MS : BUSY_MS
    if (now - this.#sentAt >= everyMs || !isDeepStrictEqual(jobs, this.#sentJobs)) {
      this.#sendHeartbeat(jobs)
    }
    for (const [id, peer] of this.#peers) this.#checkPeer(id, peer, now - peer.heardAt)
  }

  #sendHeartbeat(jobs: readonly string[]): void {
    const { bus } = this.#deps
    this.#sentJobs = jobs
    this.#sentAt = performance.now()
    bus.emit(orchestratorJobs, {}, { orchestrator: bus.id, jobs: [...jobs] })
  }

  #checkPeer(id: string, peer: Peer, silentMs: number): void {
    if (silentMs >= FORGET_MS || (peer.jobs.length === 0 && silentMs >= PRESENT_MS)) {
      this.#peers.delete(id)
    } else if (peer.isDead) this.#handBack(id, peer)
    else if (peer.jobs.length > 0 && silentMs >= QUIET_MS && !peer.isAsked) void this.#ask(id, peer)
  }

  async #ask(id: string, peer: Peer): Promise<void> {
    const { bus, isAlive = (orchestrator) => answers(bus, orchestrator) } = this.#deps
    peer.isAsked = true
    const answered = await isAlive(id).catch(() => undefined)
    // The peer sent a heartbeat meanwhile, or was forgotten.
    const known = this.#peers.get(id)
    if (known !== undefined) known.isAsked = false
    if (known !== peer) return
    // The peer lives: only its heartbeats were lost.
    if (answered !== false) peer.heardAt = performance.now()
    else if (bus.sinceOutageMs() > STEADY_MS) {
      peer.isDead = true
      this.#handBack(id, peer)
    }
  }

  /** The living orchestrator with the lowest id hands jobs back. The others keep the peer, since that one may be dead, too. */
  #handBack(id: string, { jobs }: Peer): void {
    const { bus, logger, events } = this.#deps
    const isAhead = ([other, { isDead }]: [string, Peer]): boolean => other < bus.id && !isDead
    if (this.#peers.entries().some(isAhead)) return
    this.#peers.delete(id)
    for (const job of jobs) bus.sessions.handBack(job)
    events.jobsTakenOver(jobs.length)
    const fields = {
      component: 'takeover',
      action: 'hand-back',
      orchestrator: id,
      jobs: jobs.length,
    }
    logger.warn(fields, 'an orchestrator is dead; its jobs were handed back')
  }
}

async function answers(bus: Bus, orchestrator: string): Promise<boolean> {
  // Any session will do, since every answer proves life.
  const request = { session: newSessionId() }
  const envelope = newEnvelope('local')
  const reply = await probe(bus, orchestratorControl, { orchestrator }, request, envelope)
  return reply !== undefined
}
