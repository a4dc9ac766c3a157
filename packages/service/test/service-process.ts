import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { eventually } from '@mcp-host/testkit'
import { bundle } from '@mcp-host/tools/build'
import type { GuardedProcess, ProcessExit } from '@mcp-host/process'
import { Guardian, spawnGuarded } from '@mcp-host/process'

/** A process that runs the fixture service. */
export class FixtureService implements AsyncDisposable {
  readonly process: GuardedProcess
  readonly #guardian: Guardian
  readonly #out: () => string
  readonly #err: () => string

  private constructor(guardian: Guardian, child: GuardedProcess) {
    this.#guardian = guardian
    this.process = child
    this.#out = collect(child.stdout)
    this.#err = collect(child.stderr)
  }

  /** Bundles the program into a folder: it is started often, and a bundle starts in a third of the time. */
  static async build(folder: string): Promise<string> {
    await bundle('packages/service/test/fixtures/service.ts', folder)
    return join(folder, 'main.js')
  }

  static async start(program: string, env: Record<string, string>): Promise<FixtureService> {
    const guardian = new Guardian()
    const child = await spawnGuarded(guardian, {
      command: process.execPath,
      args: [program],
      cwd: import.meta.dirname,
      env: { PATH: process.env['PATH'], ...env },
      stdin: 'ignore',
    })
    return new FixtureService(guardian, child)
  }

  /** Waits until stdout contains a text. */
  async says(text: string): Promise<void> {
    await eventually(() => this.#out().includes(text), { what: text })
  }

  /** The output and exit of the process, once it has ended. */
  async ended(): Promise<{ out: string; err: string; exit: ProcessExit }> {
    const { stdout, stderr, gone } = this.process
    const exit = await gone
    await eventually(() => stdout?.readableEnded === true && stderr?.readableEnded === true)
    return { out: this.#out(), err: this.#err(), exit }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#guardian[Symbol.asyncDispose]()
  }
}

function collect(stream: Readable | null): () => string {
  let text = ''
  stream?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  return () => text
}
