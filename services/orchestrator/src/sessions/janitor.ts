import type { Bus, DirectoryView, Lease } from '@mcp-host/bus'
import type { SessionRecord } from '@mcp-host/contracts'
import { BusError, newEnvelope } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import { openState } from '../turn/open-state.ts'
import { eraseSession } from './erase-session.ts'
import { purgeSession } from './purge-session.ts'
import { reportDamage } from './report-damage.ts'

const LEASE = 'janitor'
const LEASE_TTL_MS = 30_000
/** The delay of the first round, so that it does not add to the load of a start. */
const FIRST_MS = 10_000
const EVERY_MS = 60_000
const DAY_MS = 24 * 3_600_000

export interface JanitorDeps {
  readonly bus: Bus
  readonly logger: Logger
  /** Sessions without activity for this number of days are deleted; 0 keeps them. */
  readonly sessionTtlDays: number
}

/**
 * Runs once a minute in one orchestrator at a time: deletes expired sessions, and purges late entries of deleted ones.
 */
export function startJanitor(deps: JanitorDeps): AsyncDisposable {
  const janitor = new Janitor(deps)
  janitor.again(FIRST_MS)
  return janitor
}

class Janitor implements AsyncDisposable {
  readonly #deps: JanitorDeps
  readonly #stop = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #round: Promise<void> = Promise.resolve()
  #lease: Lease | undefined
  #view: DirectoryView | undefined
  /** When sessions were last checked for damage, by `performance.now()`. */
  #checkedAt: number | undefined

  constructor(deps: JanitorDeps) {
    this.#deps = deps
  }

  again(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#round = this.#clean()
    }, ms)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    clearTimeout(this.#timer)
    await this.#round
    await this.#lease?.release()
  }

  async #clean(): Promise<void> {
    const { bus, logger } = this.#deps
    try {
      if (this.#lease?.isHeld !== true) {
        this.#lease = await bus.leases.acquire(LEASE, { ttlMs: LEASE_TTL_MS })
      }
      // Only the holder of the lease keeps all records in memory.
      if (this.#lease !== undefined) {
        this.#view ??= await bus.directory.watch()
        await this.#checkDamage(this.#view)
      }
      for (const record of Array.from(this.#view?.records.values() ?? [])) {
        if (this.#stop.signal.aborted || this.#lease?.isHeld !== true) break
        await this.#look(record)
      }
    } catch (err) {
      // The next round continues the work.
      logger.warn(
        { component: 'janitor', action: 'clean', err },
        'could not clean up; trying again',
      )
    }
    if (!this.#stop.signal.aborted) this.again(EVERY_MS)
  }

  /** Checks for damage once, and again after each outage, since nats-server may have lost data. */
  async #checkDamage({ records }: DirectoryView): Promise<void> {
    const outageEndedAt = performance.now() - this.#deps.bus.sinceOutageMs()
    if (this.#checkedAt !== undefined && outageEndedAt < this.#checkedAt) return
    this.#checkedAt = performance.now()
    await reportDamage(this.#deps, records.values())
  }

  /**
   * Checks one session. A fault of one session does not stop the round; without the broker, no session can be checked.
   */
  async #look(record: SessionRecord): Promise<void> {
    try {
      if (record.state === 'deleted') await this.#purgeAgain(record)
      else if (this.#isOld(record.updatedAt)) await this.#expire(record)
    } catch (err) {
      if (BusError.from(err).code === 'unavailable') throw err
      const fields = { component: 'janitor', action: 'look', sessionId: record.id, err }
      this.#deps.logger.warn(fields, 'could not clean up a session')
    }
  }

  async #purgeAgain({ id }: SessionRecord): Promise<void> {
    const { bus, logger } = this.#deps
    if ((await bus.sessions.lastSequence(id)) === 0) return
    await purgeSession(bus, id)
    const fields = { component: 'janitor', action: 'purge', sessionId: id }
    logger.info(fields, 'purged what was written into a deleted session')
  }

  async #expire({ id, owner }: SessionRecord): Promise<void> {
    // The log decides, since the record may not be up to date.
    const { updatedAt } = await openState(this.#deps.bus, id)
    if (!this.#isOld(updatedAt)) return
    const check = (record: SessionRecord | undefined): SessionRecord | undefined =>
      record?.state === 'active' && this.#isOld(record.updatedAt) ? record : undefined
    await eraseSession(this.#deps, id, {
      envelope: newEnvelope(owner),
      isExpired: true,
      check,
    })
  }

  #isOld(updatedAt: number): boolean {
    const { bus, sessionTtlDays } = this.#deps
    return sessionTtlDays > 0 && updatedAt < bus.clock.now() - sessionTtlDays * DAY_MS
  }
}
