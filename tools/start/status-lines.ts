import { countOf } from '@mcp-host/client'
import type { CatalogEntry, FileFault, ServerView } from '@mcp-host/contracts'
import {
  describeDamage,
  explainFailure,
  fileFaults,
  outputBesideReason,
  viewServers,
} from '@mcp-host/contracts'
import type { Say } from '../host/keep-running.ts'
import { plain } from '../plain.ts'

/** The time for a start of a server without an extra line. */
const PATIENCE_MS = 2_000
/** Limit for the changed tools that one line names. */
const MAX_NAMES = 10

/** The state of a server that the terminal shows. */
interface KnownServer {
  readonly supervisor?: string
  readonly state: ServerView['state']
  /** The time at which this state began. */
  readonly since: number
  /** Names of its tools when it was last ready; `undefined` before that. */
  readonly tools?: readonly string[] | undefined
  readonly pids: string
  readonly restarts: number
  /** The reason for its unavailability that was printed since it was last ready. */
  readonly printedError?: string | undefined
  /** Whether it was added after the first lines were complete. */
  readonly isAdded: boolean
  /** While it is starting, the failure of the previous attempt. */
  readonly error?: string | undefined
  /** `installing` while its launcher may still be fetching the program. */
  readonly phase?: string | undefined
  /** Whether a line says that it is still starting. */
  readonly isLate: boolean
  /** Whether nobody has logged in there. */
  readonly awaitsLogin?: boolean
}

export interface StatusLinesOptions {
  readonly say: Say
  /** Names of the MCP servers in `mcp.json`. */
  readonly configured: readonly string[]
  /** The current time, in milliseconds. */
  readonly now: () => number
}

/** Prints changes in the catalog: the model, the MCP servers, and faults of their files. */
export class StatusLines {
  readonly #say: Say
  readonly #now: () => number
  readonly #servers = new Map<string, KnownServer>()
  #model: string | undefined
  /** The fault of each changed file that cannot be used; empty for one that has just been taken over. */
  readonly #faults = new Map<string, string>()
  /** The warnings about `mcp.json`; `undefined` until a supervisor is present, since the start prints the first ones. */
  #warnings: ReadonlySet<string> | undefined
  #isComplete = false
  #damage: string | undefined

  constructor({ say, configured, now }: StatusLinesOptions) {
    this.#say = (about, what) => say(plain(about), plain(what))
    this.#now = now
    for (const name of configured) {
      this.#servers.set(name, {
        state: 'starting',
        since: now(),
        pids: '',
        restarts: 0,
        isAdded: false,
        isLate: false,
      })
    }
  }

  /** Whether the model and every configured server has its line. Later servers are called added. */
  get isComplete(): boolean {
    this.#isComplete ||=
      this.#model !== undefined &&
      Array.from(this.#servers.values()).every(
        ({ state, isLate }) => state !== 'starting' || isLate,
      )
    return this.#isComplete
  }

  /** Prints the changes since the last update. */
  update(entries: Iterable<CatalogEntry>): void {
    const all = Array.from(entries)
    for (const view of viewServers(all)) this.#server(view)
    for (const [name, known] of this.#servers) {
      if (isRemoved(name, known, all)) {
        this.#servers.delete(name)
        this.#say(`server ${name}`, 'removed')
      } else this.#checkPatience(name, known)
    }
    for (const entry of all) if (entry.kind === 'model') this.#answers(entry)
    const read = all.filter((entry) => entry.kind === 'file-fault')
    this.#checkFaults(fileFaults(all), new Set(read.map(({ file }) => file)))
    this.#checkWarnings(all.filter((entry) => entry.kind === 'supervisor'))
    const damage = all.find((entry) => entry.kind === 'damage')
    this.#checkDamage(damage && describeDamage(damage))
  }

  #checkDamage(damage: string | undefined): void {
    if (damage !== undefined && damage !== this.#damage) this.#say('storage', damage)
    this.#damage = damage
  }

  #server({ server, state, entry, tools }: ServerView): void {
    const before = this.#servers.get(server)
    const isReady = state === 'ready'
    const error = explainFailure(entry)
    const reason = `unavailable: ${error ?? 'no reason is known'}`
    // A server that fails at every start fails for the same reason, which is printed once. Its output has other times.
    const isNewError =
      state === 'unavailable' &&
      (before?.printedError === undefined ||
        withoutTimes(before.printedError) !== withoutTimes(reason))
    const known: KnownServer = {
      supervisor: entry.supervisor,
      state,
      since: before?.state === state ? before.since : this.#now(),
      tools: isReady ? tools.map(({ name }) => name) : before?.tools,
      pids: [entry, ...(entry.instances ?? [])].map(({ pid }) => pid).join(),
      restarts: entry.restarts ?? 0,
      printedError: isReady ? undefined : isNewError ? reason : before?.printedError,
      isAdded: before?.isAdded ?? this.isComplete,
      error,
      phase: entry.phase,
      isLate: state === 'starting' && before?.isLate === true,
      // A server that lists nothing without a login has the tool `connect` alone.
      awaitsLogin: entry.scope === 'user' && tools.every(({ name }) => name === 'connect'),
    }
    const line = isReady
      ? this.#ready(before, known)
      : isNewError
        ? `${reason}${lastOutput(entry)}`
        : undefined
    this.#servers.set(server, known)
    if (line !== undefined) this.#say(`server ${server}`, line)
  }

  #ready(before: KnownServer | undefined, now: KnownServer): string | undefined {
    const { tools = [] } = now
    const count = now.awaitsLogin
      ? 'nobody has logged in there yet: log in under Account, Connections'
      : countOf(tools.length, 'tool')
    if (before?.tools === undefined) {
      if (before?.isLate === true || before?.state === 'unavailable') {
        return `ready: ${count}, after ${this.#seconds(before.since)}`
      }
      return now.isAdded ? `added: ${count}` : count
    }
    if (before.state !== 'ready') return `ready again: ${count}`
    if (before.restarts < now.restarts) return `ended and was started again: ${count}`
    if (before.pids !== now.pids) return `started again: ${count}`
    return changedTools(before.tools, tools)
  }

  /** Prints once that a server takes long to start. */
  #checkPatience(name: string, known: KnownServer): void {
    if (known.state !== 'starting' || known.isLate) return
    if (this.#now() - known.since < PATIENCE_MS) return
    if (known.printedError !== undefined) {
      this.#servers.set(name, { ...known, isLate: true })
      return
    }
    const added = known.isAdded && known.tools === undefined ? 'added, ' : ''
    this.#servers.set(name, { ...known, isLate: true })
    const phase = known.phase ?? 'starting'
    const failure = known.error === undefined ? '' : `; an attempt failed: ${known.error}`
    const line = `${added}still ${phase} after ${this.#seconds(known.since)}${failure}`
    this.#say(`server ${name}`, line)
  }

  #answers({ model, provider, notice }: Extract<CatalogEntry, { kind: 'model' }>): void {
    const line = `${model} (${provider})`
    if (line === this.#model) return
    this.#say('model', this.#model === undefined ? line : `${line} answers from now on`)
    if (notice !== undefined) this.#say('', notice)
    this.#model = line
  }

  /** `read`: the files that are faulty, or have just been taken over. */
  #checkFaults(all: readonly FileFault[], read: ReadonlySet<string>): void {
    const found = Map.groupBy(all, ({ file }) => file)
    for (const [file, each] of found) {
      const faults = each.map((fault) => fault.faults).join('\n')
      if (this.#faults.get(file) !== faults)
        this.#say(file, `not taken over: ${faults.replaceAll('\n', '\n  ')}`)
      this.#faults.set(file, faults)
    }
    for (const file of new Set([...read, ...this.#faults.keys()])) {
      if (found.has(file)) continue
      // An empty entry stands for a change that is told.
      if (this.#faults.get(file) !== '') this.#say(file, 'taken over')
      if (read.has(file)) this.#faults.set(file, '')
      else this.#faults.delete(file)
    }
  }

  /** Prints the warnings that the last present supervisors did not have. */
  #checkWarnings(supervisors: readonly Extract<CatalogEntry, { kind: 'supervisor' }>[]): void {
    if (supervisors.length === 0) return
    const found = new Set(supervisors.flatMap(({ warnings = [] }) => warnings))
    const known = this.#warnings ?? found
    for (const warning of found) if (!known.has(warning)) this.#say('warning', warning)
    this.#warnings = found
  }

  #seconds(since: number): string {
    return `${((this.#now() - since) / 1_000).toFixed(1)} s`
  }
}

function withoutTimes(text: string): string {
  return text.replaceAll(/\d+:\d\d:\d\d(?:[.,]\d+)?/g, '')
}

/** The last output of its process, one line each. */
function lastOutput(entry: ServerView['entry']): string {
  return outputBesideReason(entry)
    .map((line) => `\n  | ${line}`)
    .join('')
}

function changedTools(before: readonly string[], now: readonly string[]): string | undefined {
  const added = now.filter((name) => !before.includes(name)).map((name) => `+${name}`)
  const removed = before.filter((name) => !now.includes(name)).map((name) => `-${name}`)
  const changes = [...added, ...removed]
  if (changes.length === 0) return undefined
  const more = changes.length > MAX_NAMES ? ` and ${changes.length - MAX_NAMES} more` : ''
  return `${countOf(now.length, 'tool')}, changed: ${changes.slice(0, MAX_NAMES).join(', ')}${more}`
}

/**
 * Whether the supervisor of a server is present and no longer has the server. A dead supervisor says nothing about its
 * servers, since its successor starts them again.
 */
function isRemoved(
  name: string,
  { supervisor }: KnownServer,
  all: readonly CatalogEntry[],
): boolean {
  const isListed = all.some((entry) => entry.kind === 'server' && entry.server === name)
  return (
    !isListed &&
    all.some(
      (entry) =>
        entry.kind === 'supervisor' &&
        entry.id === supervisor &&
        !Object.hasOwn(entry.servers, name),
    )
  )
}
