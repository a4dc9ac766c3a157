import type { Bus, ServedRequest } from '@mcp-host/bus'
import type { RunToolRequest, ServerName } from '@mcp-host/contracts'
import { BusError, passControl, passRequest, runTool } from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import type { MCPHost, ServerConfig, ServerSnapshot } from 'mcp-host'
import { McpHostError } from 'mcp-host'
import type { SupervisorEvents } from '../events.ts'
import { startToolCall } from '../handlers/run-tool.ts'
import type { RunningCalls } from '../input/running-calls.ts'
import type { Era } from '../pass/eras.ts'
import type { Answer, Question, Tell } from '../pass/pass-request.ts'
import { passRequest as runPassed } from '../pass/pass-request.ts'

export interface HostedServerDeps {
  readonly bus: Bus
  readonly logger: Logger
  readonly events: SupervisorEvents
  readonly calls: RunningCalls
}

/** One MCP server in a host of its own, so that servers can come and go one by one. */
export class HostedServer implements AsyncDisposable {
  readonly name: ServerName
  readonly #deps: HostedServerDeps
  readonly #host: MCPHost
  readonly #running = new Set<Promise<void>>()
  /** Requests of other MCP clients by their ids; called, each gives a sign of life. */
  readonly #passed = new Map<string, () => void>()
  /** Which it speaks, as far as known. */
  #era: Era = 'legacy'
  readonly #closing = new AbortController()
  readonly #closed = new AbortController()
  readonly #started: Promise<void>
  readonly #followed: Promise<void>
  readonly #control: Disposable

  /** Starts it; a failure shows in its state. `onChange` gets every state. */
  constructor(
    deps: HostedServerDeps,
    host: MCPHost,
    name: ServerName,
    config: ServerConfig,
    onChange: (snapshot: ServerSnapshot) => void,
  ) {
    this.#deps = deps
    this.#host = host
    this.name = name
    // The other servers are not in this host: the placement waits for them.
    const { dependencies: _, ...alone } = config
    this.#started = host.initialize({ servers: { [name]: alone } }).catch((err: unknown) => {
      const fields = { component: 'supervisor', action: 'initialize', server: name, err }
      deps.logger.error(fields, 'could not start a server')
    })
    this.#followed = this.#follow(onChange)
    // Until its end: also while it takes no more, those under way are asked for.
    this.#control = deps.bus.listen(passControl, { server: name }, ({ id, action }) => {
      if (action === 'cancel') this.#host.abort(id)
      else this.#passed.get(id)?.()
    })
  }

  /** As it is now; `onChange` may hear of it a little later. */
  get snapshot(): ServerSnapshot | undefined {
    return this.#host.getTools()[0]
  }

  /** Calls that are under way. */
  get inFlight(): number {
    return this.#running.size
  }

  /** Resolves once it is ready, or has failed to be. */
  started(): Promise<void> {
    return this.#started
  }

  /** Answers on the server's queue until disposed, while `isHeld` says so. */
  serve(isHeld: () => boolean): Disposable {
    const { bus } = this.#deps
    const params = { server: this.name }
    const check = (): void => {
      if (isHeld()) return
      throw new BusError('unavailable', `the MCP server "${this.name}" is moving; try again`)
    }
    const stack = new DisposableStack()
    stack.use(
      bus.serve(runTool, params, (served) => {
        check()
        return this.run(served)
      }),
    )
    stack.use(
      bus.servePassage(passRequest, params, async (question, tell) => {
        check()
        return this.#pass(question, tell)
      }),
    )
    return stack
  }

  /** Runs a request of another MCP client; what goes wrong is an answer too. */
  async #pass(question: Question, tell: Tell): Promise<Answer> {
    const { id, method } = question.head
    const { events } = this.#deps
    const isCall = method === 'tools/call'
    const begin = performance.now()
    if (isCall) events.callStarted()
    const deps = { bus: this.#deps.bus, host: this.#host, server: this.name, era: this.#era }
    const passed = runPassed(deps, question, tell)
    const end = passed.then(ignore, ignore)
    this.#running.add(end)
    this.#passed.set(id, () => tell({ type: 'running' }, ''))
    let outcome: 'ok' | 'error' = 'error'
    try {
      const answer = await passed
      if (answer.head.type !== 'error') outcome = 'ok'
      return answer
    } finally {
      this.#running.delete(end)
      this.#passed.delete(id)
      const durationMs = performance.now() - begin
      if (isCall) events.callEnded({ server: this.name, outcome, durationMs })
    }
  }

  /** Takes a call, which waits until the server has started. */
  run(served: ServedRequest<RunToolRequest>): { supervisor: string } {
    const { bus, logger, events, calls } = this.#deps
    const host: Pick<MCPHost, 'callTool'> = {
      callTool: async (...call) => {
        const [, , options] = call
        await unlessAborted(this.#started, options?.signal)
        return this.#host.callTool(...call)
      },
    }
    const { signal: closed } = this.#closing
    const deps = { bus, host, logger, events, closed, running: this.#running, calls }
    return startToolCall(deps, this.name, served)
  }

  /** Its process anew; calls under way fail. Throws `unavailable` when it does not become ready. */
  async restart(): Promise<void> {
    try {
      await this.#host.restart(this.name)
    } catch (error) {
      if (!(error instanceof McpHostError)) throw error
      throw new BusError('unavailable', error.message, { cause: error })
    }
  }

  /** Resolves when all calls that were taken have ended. */
  async drained(): Promise<void> {
    await Promise.all(this.#running)
  }

  /** Ends the server; calls under way fail. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    await this.#host.shutdown()
    this.#closed.abort()
    await this.#followed
    await this.drained()
    this.#control[Symbol.dispose]()
  }

  async #follow(onChange: (snapshot: ServerSnapshot) => void): Promise<void> {
    for await (const snapshot of this.#host.serverChanges({ signal: this.#closed.signal })) {
      this.#era = snapshot.era ?? this.#era
      onChange(snapshot)
    }
  }
}

const ignore = (): void => undefined

/** Throws the signal's reason where that comes first. */
async function unlessAborted(promise: Promise<void>, signal: AbortSignal | undefined) {
  const cut = Promise.withResolvers<never>()
  const onAbort = (): void => cut.reject(signal?.reason)
  signal?.addEventListener('abort', onAbort)
  if (signal?.aborted === true) onAbort()
  try {
    await Promise.race([promise, cut.promise])
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}
