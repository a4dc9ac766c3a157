/** A client that calls the echo tool. */
export interface McpClient {
  /** Throws when the reply does not contain the text. */
  call(text: string): Promise<void>
  close(): Promise<void>
}

export const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1.0.0' },
  },
})

export const initialized = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })

export function toolCall(id: number, name: string, text: string): string {
  const params = { name, arguments: { text } }
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })
}
