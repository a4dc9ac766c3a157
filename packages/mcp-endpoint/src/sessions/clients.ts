import type { McpClient, McpClientRecord } from '@mcp-host/contracts'
import type { JsonRpcId } from '../messages/json-rpc.ts'
import type { ClientSession } from './session.ts'

/** The state of legacy clients' sessions, shared by all gateways. */
export interface Clients {
  /** The record of a session that has been read. */
  record(client: string): McpClientRecord
  /** Reads the record of a session; `undefined` when it has been read. Throws `JsonRpcError` when it cannot be read. */
  read(client: string): Promise<void> | undefined
  /** Keeps the record of the client until disposed. */
  hold(client: string): Disposable
  /** Changes a record. Throws `JsonRpcError` when it cannot be stored. */
  change(client: string, change: (record: McpClientRecord) => McpClientRecord): Promise<void>
  onChange(listener: () => void): Disposable
  /** Cancels a client's request at the gateway that has it. */
  cancel(client: string, requestId: JsonRpcId): void
  onCancel(client: string, requestId: JsonRpcId, listener: () => void): Disposable
}

/** The session in the form that servers need. */
export function clientOf({ id, capabilities }: ClientSession, clients: Clients): McpClient {
  const { logLevel } = clients.record(id)
  return { id, capabilities, ...(logLevel === undefined ? {} : { logLevel }) }
}
