import type { Readable } from 'node:stream'

import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
  type Transport,
} from '@modelcontextprotocol/client'

import type { Logger } from '../logger.ts'
import type { Guardian } from '../process/guardian.ts'
import {
  type GuardedProcess,
  type ProcessExit,
  spawnGuarded,
  type SpawnOptions,
} from '../process/spawn-guarded.ts'
import { exitsWithin } from '../stop/exits-within.ts'
import { stopProcess } from '../stop/stop-process.ts'
import { LineSplitter } from './line-splitter.ts'

const MAX_STDERR_LINE_BYTES = 8192
const MAX_SHOWN_CHARACTERS = 200
/** How long output may still come after the program's end, from a process that left its group. */
const DRAIN_LIMIT_MS = 250

export interface StdioTransportDeps {
  readonly guardian: Guardian
  readonly logger: Logger
}

export interface StdioTransportOptions {
  readonly program: Pick<SpawnOptions, 'command' | 'args' | 'cwd' | 'env'>
  /** See `StopOptions.graceMs`. */
  readonly graceMs: number
}

/**
 * MCP over the standard streams of a guarded process. Its output is the protocol and nothing else
 * (other lines are logged and passed over); what it writes to stderr goes to the log.
 */
export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void

  readonly #deps: StdioTransportDeps
  readonly #options: StdioTransportOptions
  #process: GuardedProcess | undefined
  #stopping: Promise<void> | undefined
  #closeReason: string | undefined

  constructor(deps: StdioTransportDeps, options: StdioTransportOptions) {
    this.#deps = deps
    this.#options = options
  }

  /** The program's process id, from its start on. */
  get pid(): number | undefined {
    return this.#process?.pid
  }

  /** Why nothing more can come, as in `exited with code 1`; undefined while the connection is open. */
  get closeReason(): string | undefined {
    return this.#closeReason
  }

  /** Throws `LaunchError`. */
  async start(): Promise<void> {
    const process = await spawnGuarded(this.#deps.guardian, this.#options.program)
    this.#process = process
    const { stdin, stdout, stderr } = process
    if (stdin === null || stdout === null || stderr === null) throw new Error('streams are missing')
    // The exit of the program, which is handled below, tells the same and more.
    stdin.on('error', () => undefined)
    this.#readMessages(stdout)
    this.#readLog(stderr)
    // Not at its exit: an answer may still be in the pipe.
    stdout.once('close', () => void this.#closed(process))
    void process.exited.then((exit) => {
      this.#closeReason ??= describeExit(exit)
      const drained = setTimeout(() => {
        stdout.destroy()
        stderr.destroy()
      }, DRAIN_LIMIT_MS)
      stdout.once('close', () => clearTimeout(drained))
      if (stdout.closed) clearTimeout(drained)
    })
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#process?.stdin
    if (stdin == null) throw new Error('the transport is not started')
    await new Promise<void>((resolve, reject) => {
      stdin.write(serializeMessage(message), (error) => (error == null ? resolve() : reject(error)))
    })
  }

  /** Stops the program with all it started; see `stopProcess`. Never throws. */
  async close(): Promise<void> {
    const process = this.#process
    if (process === undefined) return
    this.#stopping ??= this.#stop(process)
    await this.#stopping
  }

  async #stop(process: GuardedProcess): Promise<void> {
    const { graceMs } = this.#options
    const { pid } = process
    try {
      const exit = await stopProcess(process, { graceMs })
      this.#deps.logger.debug({ pid, ...exit }, 'server process is gone')
    } catch (error) {
      // Nobody can do more about it; whoever closes goes on with the rest.
      this.#deps.logger.error({ pid, err: error }, 'server process cannot be ended')
    }
  }

  async #closed(process: GuardedProcess): Promise<void> {
    // Closed streams of a program that runs on: no answer can come, so it has no further use.
    this.#closeReason ??= await this.#reasonFor(process)
    this.onclose?.()
    await this.close()
  }

  async #reasonFor(process: GuardedProcess): Promise<string> {
    // The end of the output is mostly seen a moment before the exit that caused it.
    const hasExited = await exitsWithin(process, DRAIN_LIMIT_MS)
    return hasExited ? describeExit(await process.exited) : 'closed its output'
  }

  #readMessages(stdout: Readable): void {
    const lines = new LineSplitter({
      maxLineBytes: STDIO_DEFAULT_MAX_BUFFER_SIZE,
      whenTooLong: 'throw',
    })
    stdout.on('data', (chunk: Buffer) => {
      try {
        for (const line of lines.push(chunk)) this.#readMessage(line)
      } catch {
        // Only the splitter throws. Where the next message would start is unknown: give up.
        this.#closeReason = `sent a message of more than ${STDIO_DEFAULT_MAX_BUFFER_SIZE} bytes`
        stdout.destroy()
      }
    })
  }

  #readMessage(line: string): void {
    let message: JSONRPCMessage
    try {
      message = deserializeMessage(line)
    } catch {
      // Nothing is lost: many programs print a greeting before they speak the protocol.
      const output = line.slice(0, MAX_SHOWN_CHARACTERS)
      if (line !== '') this.#deps.logger.warn({ output }, 'not a message on stdout')
      return
    }
    try {
      this.onmessage?.(message)
    } catch (error) {
      this.onerror?.(toError(error))
    }
  }

  #readLog(stderr: Readable): void {
    const lines = new LineSplitter({ maxLineBytes: MAX_STDERR_LINE_BYTES, whenTooLong: 'cut' })
    const log = (line: string): void => {
      if (line !== '') this.#deps.logger.info({ stream: 'stderr' }, line)
    }
    stderr.on('data', (chunk: Buffer) => {
      for (const line of lines.push(chunk)) log(line)
    })
    stderr.once('close', () => log(lines.rest()))
  }
}

function describeExit({ code, signal }: ProcessExit): string {
  return signal === null ? `exited with code ${code}` : `was ended by ${signal}`
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
