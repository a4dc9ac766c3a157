import type { SubscriptionFilter } from '@modelcontextprotocol/client'

import { ArgumentValidator } from '../arguments/argument-validator.ts'
import type { ServerConfig } from '../endpoints/index.ts'
import type { ValidationMode } from '../server-config.ts'
import type { ProtocolClient, ListenOptions } from '../connection/protocol-client.ts'
import { Inventory, LIST_NAMES, type ListName } from '../inventory/inventory.ts'
import { bindLogger } from '@mcp-host/process'
import type { Live } from '../requests/request-path.ts'
import { ServerInbox } from '../requests/server-inbox.ts'
import {
  connect,
  type ConnectDeps,
  type Connected,
  type ConnectOptions,
  EndedError,
} from './connect.ts'

export interface ConnectionDeps extends ConnectDeps {
  /** Called after a list was read again. */
  readonly onListed: (list: ListName) => void
  readonly now: () => number
  /** Called once, when the connection ends for any reason. */
  readonly onClose: (live: Connection) => void
}

export interface ConnectionOptions extends ConnectOptions {
  readonly name: string
  /** The time limit for one page of a list, in milliseconds. */
  readonly listTimeoutMs: number
}

/** A connected server: one process or session, from handshake to end. */
export class Connection implements Live {
  readonly connection: ProtocolClient
  readonly inventory: Inventory
  readonly inbox: ServerInbox
  /** The configuration by which the server was reached: the given one, or its fallback. */
  readonly config: ServerConfig
  /** Replaced after the tools have changed. */
  validator: ArgumentValidator
  readonly #ended = new AbortController()

  private constructor(
    { connection, config }: Connected,
    inventory: Inventory,
    inbox: ServerInbox,
    mode: ValidationMode,
  ) {
    this.validator = new ArgumentValidator(mode, { owner: this })
    this.connection = connection
    this.config = config
    this.inventory = inventory
    this.inbox = inbox
  }

  /** Connects and reads every list. When any of that fails, it throws and leaves nothing running. */
  static async open(
    deps: ConnectionDeps,
    options: ConnectionOptions,
    signal: AbortSignal,
  ): Promise<Connection> {
    // Checked before a process is launched.
    signal.throwIfAborted()
    const { logger, onListed, onClose } = deps
    const { name, config, listTimeoutMs } = options
    const mode = config.validateArguments ?? 'lenient'
    let live: Connection | undefined
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
      // A new validator frees the schemas of former tools.
      if (list === 'tools' && live !== undefined) {
        live.validator = new ArgumentValidator(mode, { owner: live })
      }
      onListed(list)
    }
    const { connection } = connected
    const lists = { filter: config.tools ?? {}, timeoutMs: listTimeoutMs, limits: deps.limits }
    const listLogger = bindLogger(logger, { action: 'list' })
    const inventory = new Inventory(
      connection,
      { logger: listLogger, onChange, now: deps.now },
      lists,
    )
    live = new Connection(connected, inventory, inbox, mode)
    try {
      await inventory.load(signal)
      // The connection may have ended while no request was in flight.
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

  /**
   * Subscribes to notifications of a modern server about its lists and these resources. A legacy server sends
   * notifications about lists unasked, and its resources are subscribed to one by one elsewhere.
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

  /** Reads every list again. Never throws. */
  async relist(): Promise<void> {
    const { inventory } = this
    await Promise.all(LIST_NAMES.map((list) => inventory.changed(list)))
  }

  /** Ends the connection, and a process with all its descendants. Never throws. */
  close(): Promise<void> {
    return this.connection.close()
  }
}
