import type { Bus, McpClientView } from '@mcp-host/bus'
import type { McpClientRecord } from '@mcp-host/contracts'
import { BusError, clientCancel } from '@mcp-host/contracts'
import { SlotMap } from '@mcp-host/async'
import { JsonRpcCode } from '@mcp-host/mcp'
import { type Clients, JsonRpcError, type JsonRpcId } from '@mcp-host/mcp-endpoint'

type ClientsBus = Pick<Bus, 'emit' | 'listen' | 'mcpClients'>

interface Cancellable {
  readonly client: string
  readonly requestId: JsonRpcId
  readonly listener: () => void
}

/** The sessions of legacy clients, which all gateways share. */
export class BusClients implements Clients, Disposable {
  readonly #bus: ClientsBus
  readonly #view: McpClientView
  readonly #cancels = new SlotMap<Cancellable>()
  readonly #heard: Disposable

  constructor(bus: ClientsBus, view: McpClientView) {
    this.#bus = bus
    this.#view = view
    this.#heard = bus.listen(clientCancel, {}, ({ client, requestId }) => {
      for (const each of this.#cancels.values()) {
        if (each.client === client && each.requestId === requestId) each.listener()
      }
    })
  }

  record(client: string): McpClientRecord {
    return this.#view.get(client) ?? {}
  }

  read(client: string): Promise<void> | undefined {
    return this.#view.read(client)?.catch((error: unknown) => {
      const message = `the session cannot be read right now: ${BusError.from(error).message}`
      throw new JsonRpcError(JsonRpcCode.unavailable, message, {
        status: 503,
        data: { retryable: true },
      })
    })
  }

  hold(client: string): Disposable {
    return this.#view.hold(client)
  }

  async change(
    client: string,
    change: (record: McpClientRecord) => McpClientRecord,
  ): Promise<void> {
    try {
      await this.#bus.mcpClients.change(client, change)
    } catch (error) {
      const message = `the session cannot be changed right now: ${BusError.from(error).message}`
      throw new JsonRpcError(JsonRpcCode.unavailable, message, { data: { retryable: true } })
    }
  }

  onChange(listener: () => void): Disposable {
    return this.#view.onChange(listener)
  }

  cancel(client: string, requestId: JsonRpcId): void {
    this.#bus.emit(clientCancel, {}, { client, requestId })
  }

  onCancel(client: string, requestId: JsonRpcId, listener: () => void): Disposable {
    // A client may have used an id twice.
    const key = this.#cancels.add({ client, requestId, listener })
    return { [Symbol.dispose]: () => void this.#cancels.delete(key) }
  }

  [Symbol.dispose](): void {
    this.#heard[Symbol.dispose]()
  }
}
