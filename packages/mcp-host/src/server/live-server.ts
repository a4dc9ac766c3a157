import type { SubscriptionFilter } from '@modelcontextprotocol/client'

import { ArgumentValidator } from '../arguments/argument-validator.ts'
import type { ServerConfig, ValidationMode } from '../config/mcp-config.ts'
import type { Connection, ListenOptions } from '../connection/connection.ts'
import { Inventory, LIST_NAMES, type ListName } from '../inventory/inventory.ts'
import { bindLogger } from '../logger.ts'
import type { Live } from '../requests/request-path.ts'
import { ServerInbox } from '../requests/server-inbox.ts'
import type { CausingCall } from '../requests/server-request.ts'
import {
  connect,
  type ConnectDeps,
  type Connected,
  type ConnectOptions,
  EndedError,
} from './connect.ts'

export interface LiveServerDeps extends ConnectDeps {
  /** Told after a list was read again. */
  readonly onListed: (list: ListName) => void
  /** Told once, when the connection ends for whatever reason. */
  readonly onClose: (live: LiveServer) => void
}

export interface LiveServerOptions extends ConnectOptions {
  readonly name: string
  /** The time limit for one page of a list, in milliseconds. */
  readonly listTimeoutMs: number
}

/** A server while it is connected: one process or session, from its handshake to its end. */
export class LiveServer implements Live {
  readonly connection: Connection
  readonly inventory: Inventory
  /** The transport by which the server was reached. */
  readonly type: ServerConfig['type']
  readonly #inbox: ServerInbox
  readonly #ended = new AbortController()
  #validator: ArgumentValidator

  private constructor(
    { connection, type }: Connected,
    inventory: Inventory,
    inbox: ServerInbox,
    mode: ValidationMode,
  ) {
    this.#validator = new ArgumentValidator(mode, { owner: this })
    this.connection = connection
    this.type = type
    this.inventory = inventory
    this.#inbox = inbox
  }

  /** Connects and reads every list. Throws, with nothing left running, when any of it fails. */
  static async open(
    deps: LiveServerDeps,
    options: LiveServerOptions,
    signal: AbortSignal,
  ): Promise<LiveServer> {
    // Or a process would be launched to be ended at once.
    signal.throwIfAborted()
    const { logger, onListed, onClose } = deps
    const { name, config, listTimeoutMs } = options
    const mode = config.validateArguments ?? 'lenient'
    let live: LiveServer | undefined
    const inbox = new ServerInbox(
      {
        ...deps.inbox,
        onListChanged: (list) => {
          deps.inbox.onListChanged(list)
          void live?.inventory.changed(list)
        },
      },
      { server: name, roots: config.roots ?? [], mask: deps.mask },
    )
    const connected = await connect(deps, options, signal, {
      prepare: (client, hold) => inbox.prepare(client, hold),
      onClose: () => {
        if (live === undefined) return
        live.inventory.close()
        live.#ended.abort(new Error('the connection is closed'))
        onClose(live)
      },
    })
    const onChange = (list: ListName): void => {
      // Schemas that are gone are let go of.
      if (list === 'tools' && live !== undefined) {
        live.#validator = new ArgumentValidator(mode, { owner: live })
      }
      onListed(list)
    }
    const { connection } = connected
    const lists = { filter: config.tools ?? {}, timeoutMs: listTimeoutMs, limits: deps.limits }
    const listLogger = bindLogger(logger, { action: 'list' })
    const inventory = new Inventory(connection, { logger: listLogger, onChange }, lists)
    live = new LiveServer(connected, inventory, inbox, mode)
    try {
      await inventory.load(signal)
      // It may have ended while nothing was waiting for an answer.
      if (connection.closeReason !== undefined) throw new EndedError(connection.closeReason)
      signal.throwIfAborted()
      return live
    } catch (error) {
      await live.close()
      throw error
    }
  }

  /** Aborted when the connection ends. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  get validator(): ArgumentValidator {
    return this.#validator
  }

  begin(call: CausingCall): number {
    return this.#inbox.begin(call)
  }

  end(key: number): void {
    this.#inbox.end(key)
  }

  answerAll(
    inputRequests: Readonly<Record<string, unknown>>,
    call: CausingCall,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> {
    return this.#inbox.answerAll(inputRequests, call, signal)
  }

  /**
   * Asks for notices about lists and these resources. An older server gives those about lists
   * unasked, and takes one resource at a time, which is not done here.
   */
  async listen(uris: readonly string[], options: ListenOptions): Promise<void> {
    if (this.connection.era !== 'modern') return
    const { tools, prompts, resources } = this.connection.capabilities
    const filter: SubscriptionFilter = {
      ...(tools?.listChanged === true ? { toolsListChanged: true } : {}),
      ...(prompts?.listChanged === true ? { promptsListChanged: true } : {}),
      ...(resources?.listChanged === true ? { resourcesListChanged: true } : {}),
      ...(uris.length > 0 ? { resourceSubscriptions: [...uris] } : {}),
    }
    await this.connection.listen(filter, options)
  }

  /** Reads every list again, now or soon. Never throws. */
  async relist(): Promise<void> {
    const { inventory } = this
    await Promise.all(LIST_NAMES.map((list) => inventory.changed(list)))
  }

  /** Ends the connection, and a process with all it started. Never throws. */
  close(): Promise<void> {
    return this.connection.close()
  }
}
