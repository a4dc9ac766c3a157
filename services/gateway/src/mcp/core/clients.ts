import type { McpClient, McpClientRecord } from '@mcp-host/contracts'
import type { JsonRpcId } from './json-rpc.ts'
import type { ClientSession } from './session.ts'

/** The state of older clients' sessions, shared by all gateways. */
export interface Clients {
  /** The record of a session that was read. */
  record(client: string): McpClientRecord
  /** Reads what is known of a session; `undefined`: it is here. Throws `JsonRpcError` when it cannot be read. */
  read(client: string): Promise<void> | undefined
  /** Keeps what was read until disposed. */
  hold(client: string): Disposable
  /** Throws `JsonRpcError` when it cannot be kept. */
  change(client: string, change: (record: McpClientRecord) => McpClientRecord): Promise<void>
  onChange(listener: () => void): Disposable
  /** Cancels a client's request at whichever gateway has it. */
  cancel(client: string, requestId: JsonRpcId): void
  onCancel(client: string, requestId: JsonRpcId, listener: () => void): Disposable
}

/** A session as servers must know it. */
export function clientOf({ id, capabilities }: ClientSession, clients: Clients): McpClient {
  const { logLevel } = clients.record(id)
  return { id, capabilities, ...(logLevel === undefined ? {} : { logLevel }) }
}
