import { setTimeout as delay } from 'node:timers/promises'

import { signalGroup } from './process-group.ts'
import { isStarting, readNewestPid, readProcess, readTag, visitProcesses } from './process-table.ts'

/** The number of consecutive searches without a match. One search can miss a process that was forked behind it. */
const CLEAN_SEARCHES = 2
/** Limit for the searches for newer processes, which other programs may start all the time. */
const MAX_ROUNDS = 200
const MAX_NEWER = 64
const PAUSE_MS = 2
/** After this time a killed process is stuck in the kernel, and waiting is useless. */
const LIMIT_MS = 2000

interface PendingTag {
  readonly giveUpAt: number
  readonly done: () => void
  cleanSearches: number
}

/**
 * Kills processes that left their process group, found by their tag. Concurrent calls share the
 * searches. Does nothing where there is no `/proc`. It does not find processes whose tag is in their environment and that
 * cleared it.
 */
export class Sweep {
  readonly #pending = new Map<string, PendingTag>()

  /** Resolves when no process with this tag is left, after two seconds at the latest. */
  kill(tag: string): Promise<void> {
    const { promise, resolve: done } = Promise.withResolvers<void>()
    const isIdle = this.#pending.size === 0
    this.#pending.set(tag, { giveUpAt: performance.now() + LIMIT_MS, done, cleanSearches: 0 })
    if (isIdle) void this.#run()
    return promise
  }

  async #run(): Promise<void> {
    while (this.#pending.size > 0) {
      // A copy, since a tag that is added during the search was not searched completely.
      const searched = [...this.#pending]
      const found = await killTagged(new Set(searched.map(([tag]) => tag)))
      for (const [tag, pending] of searched) {
        pending.cleanSearches = found.has(tag) ? 0 : pending.cleanSearches + 1
        const isClean = pending.cleanSearches >= CLEAN_SEARCHES
        if (!isClean && performance.now() < pending.giveUpAt) continue
        this.#pending.delete(tag)
        pending.done()
      }
      if (this.#pending.size > 0) await delay(PAUSE_MS)
    }
  }
}

/**
 * Kills all processes with one of the tags, and returns the tags that were found. Then it searches the newest processes
 * repeatedly: otherwise a chain of processes that each start the next and end would escape.
 */
async function killTagged(tags: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  const visit = (pid: number): void => {
    const tag = readTag(pid)
    // The process may have any of the tags, so none of their searches is clean.
    if (tag === undefined && isStarting(pid)) for (const each of tags) found.add(each)
    if (tag === undefined || !tags.has(tag)) return
    found.add(tag)
    killWithGroup(pid)
  }
  let newest = readNewestPid()
  await visitProcesses(visit)
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const last = readNewestPid()
    if (last === newest) break
    for (let pid = last; pid > Math.max(newest, last - MAX_NEWER); pid -= 1) visit(pid)
    newest = last
  }
  return found
}

/**
 * Kills a process and its group. Must directly follow the read of its tag, since the pid may be reused later. The group
 * comes first, so that no member can fork; it cannot be the host's, since no descendant can enter the host's session.
 */
function killWithGroup(pid: number): void {
  const group = readProcess(pid)?.group ?? 0
  if (group > 1) signalGroup(group, 'SIGKILL')
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process ended with its group.
  }
}
