import type { Readable } from 'node:stream'

import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'

import { resolvesWithin } from '@mcp-host/async'
import { inspectJson, type JsonInspector, type JsonShape, readJson } from '@mcp-host/json'
import { MAX_BYTES_PARSED_HERE, parseInThread } from '@mcp-host/json/thread'
import { inPlaceOf, Intake, type RefusedMessage, refusalOf } from '../intake/intake.ts'
import { inPlaceOfUnreadable, isMeantAsMessage } from '../intake/read-message.ts'
import {
  bindLogger,
  enforceLimits,
  type GuardedProcess,
  LineSplitter,
  type ProcessExit,
  type ResourceLimits,
  stopProcess,
} from '@mcp-host/process'
import type { Endpoint, EndpointDeps } from './endpoint.ts'
import { UnsentError } from '../errors/unsent-error.ts'

const MAX_STDERR_LINE_BYTES = 8192
/** Messages from this size on are inspected while they arrive. */
const MIN_LARGE_BYTES = 256 * 1024
/** While a server floods stderr, only the end of each chunk is read. */
const READ_OF_FLOOD_BYTES = 4096
/** The pause after each part of stderr that has too many lines. */
const FLOOD_PAUSE_MS = 10
/** The length of an invalid line that is masked for the log: more than is shown, so that no secret is cut in two. */
const MAX_SHOWN_BYTES = 2000
/** The time limit for output of descendants after the program's end. */
const DRAIN_LIMIT_MS = 250
/** The time limit for the exit of a program after the end of its output. On a busy machine it takes that long. */
const EXIT_LIMIT_MS = 1_000

export type StdioTransportDeps = Pick<EndpointDeps, 'logger' | 'output' | 'limits' | 'onLeftOut'>

export interface StdioTransportOptions {
  readonly spawn: (isClosing: () => boolean) => Promise<GuardedProcess>
  /** See `StopOptions.graceMs`. */
  readonly graceMs: number
  readonly limits?: ResourceLimits
}

/** MCP over the standard streams of a guarded process. `ProcessOutput` gets stderr and invalid lines of stdout. */
export class StdioTransport implements Transport, Endpoint {
  readonly intake: Intake
  readonly isPipe = true
  closeReason: string | undefined
  exitCode: number | null | undefined
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void

  readonly #deps: StdioTransportDeps
  readonly #options: StdioTransportOptions
  #process: GuardedProcess | undefined
  #launching: Promise<GuardedProcess | undefined> | undefined
  #stopping: Promise<void> | undefined
  #isClosing = false
  /** Messages of one turn of the event loop, which are written at once. */
  #unsent: string[] = []
  #flushed: Promise<void> | undefined
  /** Set while later messages wait, for the event loop or for a thread that reads a large message. */
  #pause: Promise<void> | undefined
  /** Inspects the unfinished message, if it is large. */
  #inspector: JsonInspector | undefined

  constructor(deps: StdioTransportDeps, options: StdioTransportOptions) {
    this.#deps = deps
    this.#options = options
    const { limits, logger, onLeftOut } = deps
    this.intake = new Intake({
      limits,
      logger,
      onLeftOut,
      onExceeded: (reason) => this.#fail(reason),
    })
  }

  get transport(): Transport {
    return this
  }

  get pid(): number | undefined {
    return this.#process?.pid
  }

  /** Starts the program. Throws what `spawn` throws. */
  async start(): Promise<void> {
    this.#deps.output.clear()
    const launching = this.#options.spawn(() => this.#isClosing)
    // `start` rejects with this failure; `close` only waits for the end of the launch.
    this.#launching = launching.catch(() => undefined)
    const process = await launching
    this.#process = process
    const { stdin, stdout, stderr } = process
    if (stdin === null || stdout === null || stderr === null) throw new Error('streams are missing')
    const { limits } = this.#options
    if (limits !== undefined) {
      const onExceeded = (reason: string): void => void (this.closeReason ??= reason)
      const logger = bindLogger(this.#deps.logger, { action: 'limit' })
      enforceLimits(process, limits, { logger, onExceeded })
    }
    // The exit of the program is handled below.
    stdin.on('error', () => undefined)
    this.#readMessages(stdout)
    const logged = this.#readLog(stderr)
    // Not at the exit of the program, since a response may still be in the pipe.
    stdout.once('close', () => void this.#closed(process, logged))
    void process.exited.then((exit) => {
      this.closeReason ??= describeExit(exit)
      if (this.#stopping === undefined) this.exitCode = exit.code
      const late = setTimeout(() => {
        stdout.destroy()
        stderr.destroy()
      }, DRAIN_LIMIT_MS)
      void Promise.all([closed(stdout), closed(stderr)]).then(() => clearTimeout(late))
    })
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.#unsent.push(JSON.stringify(message), '\n')
    return (this.#flushed ??= Promise.resolve().then(() => this.#flush()))
  }

  /** Stops the program with its descendants; see `stopProcess`. Never throws. */
  async close(): Promise<void> {
    this.#isClosing = true
    // A process that is being launched must be stopped, too.
    const process = this.#process ?? (await this.#launching)
    if (process === undefined) return
    this.#stopping ??= this.#stop(process)
    await this.#stopping
  }

  async #flush(): Promise<void> {
    const text = withoutLineSeparators(this.#unsent.join(''))
    this.#unsent = []
    this.#flushed = undefined
    const stdin = this.#process?.stdin
    if (stdin == null) throw new Error('the transport is not started')
    await new Promise<void>((resolve, reject) => {
      const written = (error: Error | null | undefined): void => {
        if (error == null) resolve()
        else reject(isUnsent ? new UnsentError(error.message, { cause: error }) : error)
      }
      stdin.write(text, written)
      // A write that fails later may have been sent in part, with a complete message.
      const isUnsent = stdin.destroyed || stdin.errored !== null
    })
  }

  async #stop(process: GuardedProcess): Promise<void> {
    const { graceMs } = this.#options
    const { pid } = process
    try {
      const exit = await stopProcess(process, { graceMs })
      this.#deps.logger.debug({ action: 'stop', pid, ...exit }, 'server process is gone')
    } catch (error) {
      // There is no remedy; `close` must not throw.
      const fields = { action: 'stop', pid, err: error }
      this.#deps.logger.error(fields, 'server process cannot be ended')
    }
  }

  /** `logged`: resolves when all of stderr is read. */
  async #closed(process: GuardedProcess, logged: Promise<void>): Promise<void> {
    while (this.#pause !== undefined) await this.#pause
    // A program without an output is useless, and is stopped if it still runs.
    this.closeReason ??= await this.#reasonFor(process)
    // The last line of stderr may explain the exit.
    if (this.exitCode !== undefined) await logged
    this.onclose?.()
    await this.close()
  }

  async #reasonFor(process: GuardedProcess): Promise<string> {
    // The output ends before the exit event.
    const hasExited = await resolvesWithin(process.exited, EXIT_LIMIT_MS)
    return hasExited ? describeExit(await process.exited) : 'closed its output'
  }

  #readMessages(stdout: Readable): void {
    const lines = new LineSplitter({
      maxLineBytes: this.intake.limits.messageBytes,
      whenTooLong: 'throw',
    })
    const chunks: Buffer[] = []
    const inspect = (chunk: Buffer) => this.#inspectUnfinished(lines, chunk)
    function* unread(): Generator<Buffer<ArrayBuffer> | Promise<void>> {
      for (let chunk; (chunk = chunks.shift()) !== undefined;) {
        yield* lines.push(chunk)
        const pause = inspect(chunk)
        if (pause !== undefined) yield pause
      }
    }
    stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      // Chunks arrive even during a pause, since Node reads the rest when the program ends.
      if (this.#pause === undefined) this.#readLines(stdout, unread())
    })
  }

  /** Reads the messages in their order. */
  #readLines(stdout: Readable, lines: Iterator<Buffer<ArrayBuffer> | Promise<void>>): void {
    try {
      for (let next = lines.next(); next.done !== true; next = lines.next()) {
        const pause = next.value instanceof Promise ? next.value : this.#handleLine(next.value)
        if (pause !== undefined) {
          // Unread messages stay in the pipe, which limits the memory.
          stdout.pause()
          this.#pause = pause.then(() => {
            this.#pause = undefined
            stdout.resume()
            this.#readLines(stdout, lines)
          })
          return
        }
      }
    } catch {
      // Only the splitter throws, and then the start of the next message is unknown.
      this.#fail(`sent a message of more than ${this.intake.limits.messageBytes} bytes`)
    }
  }

  /** Refuses a message over the limits before it is complete. Returns a promise when the event loop must run first. */
  #inspectUnfinished(lines: LineSplitter, chunk: Buffer): Promise<void> | undefined {
    // The rest of a refused message is skipped.
    if (lines.isSkipping) return this.intake.pace(chunk.length)
    if (lines.bytes < MIN_LARGE_BYTES) return undefined
    const isFirst = this.#inspector === undefined
    this.#inspector ??= this.intake.inspector()
    this.#inspector.push(isFirst ? lines.beginning() : chunk)
    // The error response to the request needs the id.
    const refused =
      this.#inspector.id === undefined ? undefined : this.intake.judge(this.#inspector, lines.bytes)
    if (refused !== undefined) {
      this.#inspector = undefined
      lines.skip()
      this.#refuse(refused)
    }
    return this.intake.slice(chunk.length)
  }

  #handleLine(line: Buffer<ArrayBuffer>): Promise<void> | undefined {
    return this.#readLine(line) ?? this.intake.handled(line.length)
  }

  #readLine(line: Buffer<ArrayBuffer>): Promise<void> | undefined {
    const refused = this.#check(line)
    if (refused !== undefined) {
      this.#refuse(refused)
      return undefined
    }
    if (line.length > MAX_BYTES_PARSED_HERE) return this.#readLarge(line)
    const text = line.toString()
    if (!isMeantAsMessage(text)) {
      this.#show(line)
      return undefined
    }
    try {
      this.#take(readJson(text), line)
      return undefined
    } catch (error) {
      return this.#takeUnreadable(error, line, { shape: inspectJson(line), bytes: line.length })
    }
  }

  #check(line: Buffer): RefusedMessage | undefined {
    const inspector = this.#inspector
    if (inspector === undefined) return this.intake.check(line)
    this.#inspector = undefined
    inspector.push(line.subarray(inspector.bytes))
    return this.intake.judge(inspector, line.length)
  }

  #refuse(refused: RefusedMessage): void {
    const refusal = refusalOf(refused)
    // A program whose input fails is about to end.
    if (refusal !== undefined) this.send(refusal).catch(() => undefined)
    const answer = inPlaceOf(refused)
    if (answer !== undefined) this.#receive(answer)
  }

  async #readLarge(line: Buffer<ArrayBuffer>): Promise<void> {
    // The bytes are transferred to the thread.
    const beginning = Buffer.from(line.subarray(0, MAX_SHOWN_BYTES))
    const about = { shape: inspectJson(line), bytes: line.length }
    try {
      this.#take(await parseInThread(line), beginning)
    } catch (error) {
      if (error instanceof SyntaxError) return this.#takeUnreadable(error, beginning, about)
      // A response may be lost.
      this.#fail(`sent a message that could not be read: ${toError(error).message}`)
    }
  }

  /**
   * Ends the request whose response cannot be read; other lines are output of the program. Returns a promise when the
   * next read has to wait: the search for the fault takes longer than the parser of a message.
   */
  #takeUnreadable(
    error: unknown,
    line: Buffer,
    { shape, bytes }: { readonly shape: JsonShape; readonly bytes: number },
  ): Promise<void> | undefined {
    const answer = isMeantAsMessage(line.toString('utf8', 0, MAX_SHOWN_BYTES))
      ? inPlaceOfUnreadable(error, shape)
      : undefined
    this.#show(line)
    if (answer !== undefined) this.#receive(answer)
    return this.intake.pace(bytes)
  }

  /** Ends the connection after a message that cannot be accepted. */
  #fail(reason: string): void {
    this.closeReason ??= reason
    this.#process?.stdout?.destroy()
  }

  #take(value: unknown, line: Buffer): void {
    const message = toMessage(value)
    // Many programs print a greeting before they speak the protocol.
    if (message === undefined) this.#show(line)
    else this.#receive(message)
  }

  /** Shows a line that is no message. */
  #show(line: Buffer): void {
    const shown = line.toString('utf8', 0, MAX_SHOWN_BYTES)
    if (shown === '') return
    this.intake.takeUseless()
    this.#deps.output.stdout(shown)
  }

  #receive(message: JSONRPCMessage): void {
    try {
      this.onmessage?.(message)
    } catch (error) {
      this.onerror?.(toError(error))
    }
  }

  /** Resolves when the last line is taken: a stream counts as closed a moment before it says so. */
  #readLog(stderr: Readable): Promise<void> {
    const lines = new LineSplitter({ maxLineBytes: MAX_STDERR_LINE_BYTES, whenTooLong: 'cut' })
    const log = (line: Buffer): boolean =>
      line.length === 0 || this.#deps.output.stderr(line.toString())
    let isFlooding = false
    stderr.on('data', (chunk: Buffer) => {
      let part = chunk
      if (isFlooding && chunk.length > READ_OF_FLOOD_BYTES) {
        const end = chunk.indexOf('\n', chunk.length - READ_OF_FLOOD_BYTES) + 1
        part = chunk.subarray(end)
        lines.rest()
        this.#deps.output.leaveOut(countLines(chunk.subarray(0, end)))
      }
      isFlooding = false
      for (const line of lines.push(part)) isFlooding = !log(line) || isFlooding
      if (!isFlooding) return
      stderr.pause()
      setTimeout(() => stderr.resume(), FLOOD_PAUSE_MS)
    })
    return new Promise((resolve) => {
      stderr.once('close', () => {
        log(lines.rest())
        resolve()
      })
    })
  }
}

function countLines(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf('\n'); at !== -1; at = bytes.indexOf('\n', at + 1)) count += 1
  return count
}

/** The value as a message. The receiver checks its content. */
function toMessage(value: unknown): JSONRPCMessage | undefined {
  const isMessage = typeof value === 'object' && value !== null && 'jsonrpc' in value
  return isMessage && value.jsonrpc === '2.0' ? (value as JSONRPCMessage) : undefined
}

/** What shells and launchers tell by a code, which most servers do not use themselves. */
const EXIT_CODES: Readonly<Record<string, string>> = {
  126: ' (command not executable)',
  127: ' (command not found)',
}

function describeExit({ code, signal }: ProcessExit): string {
  if (signal !== null) return `was ended by ${signal}`
  return `exited with code ${code}${EXIT_CODES[String(code)] ?? ''}`
}

function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed) resolve()
    stream.once('close', () => resolve())
  })
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

/** Escapes U+2028 and U+2029, which JSON allows in strings, and at which Node's `readline` ends a line. */
function withoutLineSeparators(text: string): string {
  return text.replaceAll('\u2028', String.raw`\u2028`).replaceAll('\u2029', String.raw`\u2029`)
}
