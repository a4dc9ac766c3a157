import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'

import { GUARDIAN_SCRIPT } from './guardian-script.ts'
import { launch, launched } from './launch.ts'
import { signalGroup } from './process-group.ts'
import { ResourceWatch } from './resource-watch.ts'
import { Sweep } from './sweep.ts'

/** A guardian that lives shorter than this is replaced so much later, or two would chase each other. */
const SHORT_LIFE_MS = 1000

/**
 * Kills the host's children when the host dies. One small process, in a session of its own, holds the other end of a
 * pipe; when the pipe ends for any reason, it kills every registered process group and, on Linux, descendants that left
 * their groups. Not used on Windows, which has no process groups. Disposing it kills what is still registered.
 */
export class Guardian implements AsyncDisposable {
  /** Measures the children that have limits. */
  readonly resources = new ResourceWatch()
  readonly #id = crypto.randomUUID()
  readonly #groups = new Set<number>()
  readonly #sweep = new Sweep()
  #lastTag = 0
  #shell: ChildProcess | undefined
  #isDisposed = false

  /** The guardian's process id; undefined before the first child and after a death of its own. */
  get pid(): number | undefined {
    return this.#shell?.pid
  }

  /**
   * The stream that a child gets as descriptor 3 to register itself, which it does by itself;
   * starts the guardian when there is none. Throws `LaunchError` when that fails.
   */
  async input(): Promise<Writable> {
    if (this.#isDisposed) throw new Error('the guardian is disposed: nothing can be started')
    const shell = this.#shell ?? this.#start()
    await launched(shell, '/bin/sh')
    return inputOf(shell)
  }

  /** A mark for one child and all that it starts, never used before. */
  nextTag(): string {
    this.#lastTag += 1
    return `${this.#id}.${this.#lastTag}`
  }

  /** Kills what has this tag and left its process group; see `Sweep`. Never rejects. */
  sweep(tag: string): Promise<void> {
    return this.#sweep.kill(tag)
  }

  /** Remembers a group that registered itself, for the case that the guardian must be replaced. */
  add(group: number): void {
    this.#groups.add(group)
  }

  /** Takes a group off that has no process left, before its number is used for another. */
  remove(group: number): void {
    this.#groups.delete(group)
    if (this.#shell !== undefined) inputOf(this.#shell).write(`-${group}\n`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    const isDone = this.#shell?.pid !== undefined && (await finish(this.#shell))
    if (isDone) return
    // It is dead and not replaced yet: the host does its work.
    for (const group of this.#groups) signalGroup(group, 'SIGKILL')
  }

  #start(): ChildProcess {
    const startedAt = performance.now()
    const shell = launch('/bin/sh', ['-c', GUARDIAN_SCRIPT, 'guardian', this.#id], {
      cwd: '/',
      env: {},
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    })
    this.#shell = shell
    const input = inputOf(shell)
    // A write to a dead guardian fails here; its exit, which is handled below, says the same.
    input.on('error', () => undefined)
    const ended = (): void => {
      this.#shell = undefined
      const livedLong = performance.now() - startedAt > SHORT_LIFE_MS
      if (livedLong) this.#replace()
      else if (!this.#isDisposed) setTimeout(() => this.#replace(), SHORT_LIFE_MS).unref()
    }
    shell.once('exit', ended)
    shell.once('error', ended)
    for (const group of this.#groups) input.write(`+${group}\n`)
    // The guardian must not keep an otherwise finished host alive.
    shell.unref()
    if ('unref' in input && typeof input.unref === 'function') input.unref()
    return shell
  }

  #replace(): void {
    if (this.#shell === undefined && this.#groups.size > 0 && !this.#isDisposed) this.#start()
  }
}

function inputOf(shell: ChildProcess): Writable {
  if (shell.stdin === null) throw new Error('the guardian has no input')
  return shell.stdin
}

/** Lets the guardian finish; `false` when it was killed before. */
async function finish(shell: ChildProcess): Promise<boolean> {
  const exited = once(shell, 'exit')
  shell.ref()
  inputOf(shell).end()
  const [code] = await exited
  return code !== null
}
