import { setTimeout as delay } from 'node:timers/promises'

import { signalGroup } from './process-group.ts'
import { readNewestPid, readProcess, readTag, visitProcesses } from './process-table.ts'

/** In a moment of its execution a process shows no environment: one look can miss it. */
const CLEAN_LOOKS = 2
/** Bounds the chase after new processes on a machine where strangers start them all the time. */
const MAX_TURNS = 200
const MAX_NEWER = 64
const PAUSE_MS = 2
/** Past this, a killed process is stuck in the kernel, and waiting is of no use. */
const LIMIT_MS = 2000

interface Doomed {
  readonly giveUpAt: number
  readonly done: () => void
  cleanLooks: number
}

/**
 * Kills what left its process group, found by the tag in its environment. All that ends at the
 * same time shares the looks through the process table. Does nothing where there is no `/proc`.
 *
 * Not found: a process that cleared its environment, or one of another user.
 */
export class Sweep {
  readonly #doomed = new Map<string, Doomed>()

  /** Resolves when no process with this tag is left, after two seconds at the latest. */
  kill(tag: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const isIdle = this.#doomed.size === 0
    this.#doomed.set(tag, { giveUpAt: performance.now() + LIMIT_MS, done: resolve, cleanLooks: 0 })
    if (isIdle) void this.#run()
    return promise
  }

  async #run(): Promise<void> {
    while (this.#doomed.size > 0) {
      // One that joins during a look was not looked for from its beginning.
      const looked = [...this.#doomed]
      const found = await killTagged(new Set(looked.map(([tag]) => tag)))
      for (const [tag, doomed] of looked) {
        doomed.cleanLooks = found.has(tag) ? 0 : doomed.cleanLooks + 1
        if (doomed.cleanLooks < CLEAN_LOOKS && performance.now() < doomed.giveUpAt) continue
        this.#doomed.delete(tag)
        doomed.done()
      }
      if (this.#doomed.size > 0) await delay(PAUSE_MS)
    }
  }
}

/**
 * One look through the process table: kills what has one of the tags, says which tags were found.
 * Then the newest, again and again, or a chain of processes that each start the next and end would
 * always be ahead.
 */
async function killTagged(tags: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  const visit = (pid: number): void => {
    const tag = readTag(pid)
    if (tag === undefined || !tags.has(tag)) return
    found.add(tag)
    killWithGroup(pid)
  }
  let newest = readNewestPid()
  await visitProcesses(visit)
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    const last = readNewestPid()
    if (last === newest) break
    for (let pid = last; pid > Math.max(newest, last - MAX_NEWER); pid -= 1) visit(pid)
    newest = last
  }
  return found
}

/**
 * Must directly follow the look at the process: its pid may be reused a moment later. The group comes first, so that no
 * member is left to fork; it cannot be the host's, since no descendant of a child can enter the host's session.
 */
function killWithGroup(pid: number): void {
  const group = readProcess(pid)?.group ?? 0
  if (group > 1) signalGroup(group, 'SIGKILL')
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It went with its group.
  }
}
