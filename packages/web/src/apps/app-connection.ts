import { JsonRpcCode } from '@mcp-host/mcp'
import type { AppMessage } from './app-message.ts'
import { AppFault, readMessage } from './app-message.ts'
import { MessageRate } from './message-rate.ts'

const VERSIONS = ['2026-01-26', '2025-11-21'] as const
/** Requests of an app that are worked on at the same time. */
const MAX_OPEN_REQUESTS = 16
const TEARDOWN_ID = 'teardown'
const TEARDOWN_MS = 500
const MAX_LOG_LENGTH = 500

/** The sandbox can take the page of the app. */
const SANDBOX_READY = 'ui/notifications/sandbox-proxy-ready'

/** What an app may ask for: the parameters of a request to its result. Each may throw an error. */
export interface AppActions {
  callTool(params: AppMessage['params']): Promise<object>
  readResource(params: AppMessage['params']): Promise<object>
  openLink(params: AppMessage['params']): Promise<object>
  sendMessage(params: AppMessage['params']): Promise<object>
}

export interface AppConnectionDeps {
  readonly actions: AppActions
  /** The context of the app at this moment. */
  readonly context: () => object
  /** Sends to the sandbox. */
  readonly send: (message: object) => void
  readonly onSandboxReady: () => void
  readonly onReady: () => void
  readonly onHeight: (height: number) => void
  readonly onLog: (line: string) => void
  /** Called when the app sends more messages than it may. */
  readonly onFlood: () => void
  /** Milliseconds. */
  readonly now: () => number
}

/** The host's side of the connection to an app, which is not trusted. */
export class AppConnection {
  readonly #deps: AppConnectionDeps
  readonly #rate = new MessageRate()
  #openRequests = 0
  #isReady = false
  /** Notices for an app that is not ready. */
  #notices: object[] = []
  #torndown: PromiseWithResolvers<void> | undefined

  constructor(deps: AppConnectionDeps) {
    this.#deps = deps
  }

  /** Takes a message of the sandbox. */
  receive(text: string): void {
    if (!this.count()) return
    const message = readMessage(text)
    if (message === undefined) return
    const { id, method, params } = message
    if (method === undefined) {
      if (id === TEARDOWN_ID) this.#torndown?.resolve()
    } else if (id === undefined) this.#takeNotice(method, params)
    else void this.#answer(id, method, params)
  }

  /** Counts a message, also one past the sandbox. Returns whether it is within the limit. */
  count(): boolean {
    const isWithin = this.#rate.take(this.#deps.now())
    if (!isWithin) this.#deps.onFlood()
    return isWithin
  }

  /** Tells the app something, as soon as it is ready. */
  tell(method: string, params: object): void {
    const notice = { jsonrpc: '2.0', method, params }
    if (this.#isReady) this.#deps.send(notice)
    else this.#notices.push(notice)
  }

  /** Tells the app that another part of its context holds. An app that is not ready asks for the whole. */
  changeContext(part: object): void {
    if (this.#isReady) this.tell('ui/notifications/host-context-changed', part)
  }

  /** Announces the end to the app. Resolves when it is prepared, or after a short time. */
  async teardown(): Promise<void> {
    if (!this.#isReady) return
    this.#torndown = Promise.withResolvers()
    const timer = setTimeout(this.#torndown.resolve, TEARDOWN_MS)
    const params = { reason: 'the user closes the app' }
    this.#deps.send({ jsonrpc: '2.0', id: TEARDOWN_ID, method: 'ui/resource-teardown', params })
    await this.#torndown.promise
    clearTimeout(timer)
  }

  async #answer(id: string | number, method: string, params: AppMessage['params']): Promise<void> {
    const reply = (outcome: object): void => this.#deps.send({ jsonrpc: '2.0', id, ...outcome })
    if (this.#openRequests >= MAX_OPEN_REQUESTS) {
      const message = `${MAX_OPEN_REQUESTS} requests are open; wait for an answer`
      reply({ error: { code: JsonRpcCode.refused, message } })
      return
    }
    this.#openRequests += 1
    try {
      reply({ result: await this.#resultOf(method, params) })
    } catch (error) {
      const code = error instanceof AppFault ? error.code : JsonRpcCode.refused
      const message = error instanceof Error ? error.message : String(error)
      reply({ error: { code, message } })
    } finally {
      this.#openRequests -= 1
    }
  }

  async #resultOf(method: string, params: AppMessage['params']): Promise<object> {
    const { actions, context } = this.#deps
    switch (method) {
      case 'ui/initialize':
        return initializeResult(params['protocolVersion'], context())
      case 'ping':
        return {}
      case 'tools/call':
        return actions.callTool(params)
      case 'resources/read':
        return actions.readResource(params)
      case 'ui/open-link':
        return actions.openLink(params)
      case 'ui/message':
        return actions.sendMessage(params)
      case 'ui/request-display-mode':
        return { mode: 'inline' }
      default:
        throw new AppFault(
          JsonRpcCode.methodNotFound,
          `this host does not offer ${method.slice(0, 100)}`,
        )
    }
  }

  #takeNotice(method: string, params: AppMessage['params']): void {
    const { onSandboxReady, onHeight, onLog } = this.#deps
    if (method === SANDBOX_READY) onSandboxReady()
    else if (method === 'ui/notifications/initialized') this.#begin()
    else if (method === 'ui/notifications/size-changed') {
      const { height } = params
      if (typeof height === 'number' && Number.isFinite(height)) onHeight(height)
    } else if (method === 'notifications/message') {
      const { data = null, level = 'info' } = params
      onLog(`${textOf(level)}: ${textOf(data)}`.slice(0, MAX_LOG_LENGTH))
    }
  }

  #begin(): void {
    if (this.#isReady) return
    this.#isReady = true
    for (const notice of this.#notices) this.#deps.send(notice)
    this.#notices = []
    this.#deps.onReady()
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function initializeResult(asked: unknown, hostContext: object): object {
  return {
    protocolVersion: VERSIONS.find((each) => each === asked) ?? VERSIONS[0],
    hostInfo: { name: 'mcp-host', version: '1' },
    hostCapabilities: {
      openLinks: {},
      serverTools: {},
      serverResources: {},
      logging: {},
      message: { text: {} },
    },
    hostContext,
  }
}
