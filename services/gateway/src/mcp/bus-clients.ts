import type { Bus, McpClientView } from '@mcp-host/bus'
import type { McpClientRecord } from '@mcp-host/contracts'
import { BusError, clientCancel } from '@mcp-host/contracts'
import type { Clients } from './core/clients.ts'
import type { RpcId } from './core/rpc.ts'
import { RpcCode, RpcFault } from './core/rpc.ts'

type ClientsBus = Pick<Bus, 'emit' | 'listen' | 'mcpClients'>

/** The sessions of older clients, as all gateways know them. */
export class BusClients implements Clients, Disposable {
  readonly #bus: ClientsBus
  readonly #view: McpClientView
  /** By client and request. */
  readonly #cancels = new Map<string, Set<{ readonly listener: () => void }>>()
  readonly #heard: Disposable

  constructor(bus: ClientsBus, view: McpClientView) {
    this.#bus = bus
    this.#view = view
    this.#heard = bus.listen(clientCancel, {}, ({ client, requestId }) => {
      for (const { listener } of this.#cancels.get(keyOf(client, requestId)) ?? []) listener()
    })
  }

  record(client: string): McpClientRecord {
    return this.#view.records.get(client) ?? {}
  }

  async change(
    client: string,
    change: (record: McpClientRecord) => McpClientRecord,
  ): Promise<void> {
    try {
      await this.#bus.mcpClients.change(client, change)
    } catch (error) {
      const message = `the session cannot be changed right now: ${BusError.from(error).message}`
      throw new RpcFault(RpcCode.unavailable, message, { data: { retryable: true } })
    }
  }

  onChange(listener: () => void): Disposable {
    return this.#view.onChange(listener)
  }

  cancel(client: string, requestId: RpcId): void {
    this.#bus.emit(clientCancel, {}, { client, requestId })
  }

  onCancel(client: string, requestId: RpcId, listener: () => void): Disposable {
    const key = keyOf(client, requestId)
    // A client may have used an id twice.
    const listeners = this.#cancels.get(key) ?? new Set()
    const entry = { listener }
    this.#cancels.set(key, listeners.add(entry))
    return {
      [Symbol.dispose]: () => {
        listeners.delete(entry)
        if (listeners.size === 0 && this.#cancels.get(key) === listeners) this.#cancels.delete(key)
      },
    }
  }

  [Symbol.dispose](): void {
    this.#heard[Symbol.dispose]()
  }
}

function keyOf(client: string, requestId: RpcId): string {
  return `${client} ${JSON.stringify(requestId)}`
}
