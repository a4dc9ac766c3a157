import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'

import { GUARDIAN_SCRIPT } from './guardian-script.ts'
import { launch, launched } from './launch.ts'
import { signalGroup } from './process-group.ts'
import { ResourceWatch } from './resource-watch.ts'
import { Sweep } from './sweep.ts'

/** The delay before a guardian that ended early is replaced, so that failing ones do not follow in quick succession. */
const SHORT_LIFE_MS = 1000

/**
 * Kills the host's children when the host dies. A small process in its own session holds the other end of a pipe. When
 * the pipe ends for any reason, it kills every registered process group and, on Linux, descendants that left their
 * groups. Not used on Windows, which has no process groups. Disposing the guardian kills the groups that are still
 * registered.
 */
export class Guardian implements AsyncDisposable {
  /** Measures children with limits. */
  readonly resources = new ResourceWatch()
  readonly #id = crypto.randomUUID()
  readonly #groups = new Set<number>()
  readonly #sweep = new Sweep()
  #lastTag = 0
  #shell: ChildProcess | undefined
  #isDisposed = false

  /** The guardian's process id; undefined before the first child and while it is dead. */
  get pid(): number | undefined {
    return this.#shell?.pid
  }

  /**
   * The stream that a child gets as descriptor 3 to register itself. Starts the guardian if there is none. Throws
   * `LaunchError` when that fails.
   */
  async input(): Promise<Writable> {
    if (this.#isDisposed) throw new Error('the guardian is disposed: nothing can be started')
    const shell = this.#shell ?? this.#start()
    await launched(shell, '/bin/sh')
    return inputOf(shell)
  }

  /** A new tag for one child and its descendants. */
  nextTag(): string {
    this.#lastTag += 1
    return `${this.#id}.${this.#lastTag}`
  }

  /** Kills processes with this tag that left their process group; see `Sweep`. Never rejects. */
  sweep(tag: string): Promise<void> {
    return this.#sweep.kill(tag)
  }

  /** Adds a group that registered itself, for a replacement of the guardian. */
  add(group: number): void {
    this.#groups.add(group)
  }

  /** Removes an empty group before its number is reused. */
  remove(group: number): void {
    this.#groups.delete(group)
    if (this.#shell !== undefined) inputOf(this.#shell).write(`-${group}\n`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    if (this.#shell?.pid !== undefined && (await finish(this.#shell))) return
    // The guardian is dead and not replaced yet, so the host does its work.
    for (const group of this.#groups) signalGroup(group, 'SIGKILL')
  }

  #start(): ChildProcess {
    const startedAt = performance.now()
    const shell = launch('/bin/sh', ['-c', GUARDIAN_SCRIPT, 'guardian', this.#id], {
      cwd: '/',
      // A sweep waits for processes without an environment, which may be starting.
      env: { MCP_HOST_GUARDIAN: this.#id },
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    })
    this.#shell = shell
    const input = inputOf(shell)
    // A write to a dead guardian fails here; its exit is handled below.
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

/** Waits for the end of the guardian; `false` when it was killed. */
async function finish(shell: ChildProcess): Promise<boolean> {
  const exited = once(shell, 'exit')
  shell.ref()
  inputOf(shell).end()
  const [code] = await exited
  return code !== null
}
