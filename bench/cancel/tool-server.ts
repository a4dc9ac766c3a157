// An MCP server with one tool, which takes a minute. Appends to the file of its first argument when a call arrives and
// when it is cancelled, in epoch milliseconds.
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

interface Message {
  id?: number
  method?: string
  params?: { protocolVersion?: string; arguments?: { id?: string }; requestId?: number }
}

const [, , journal = ''] = process.argv
const calls = new Map<number, string>()
const record = (event: string, id: string): void => {
  const at = performance.timeOrigin + performance.now()
  appendFileSync(journal, `${JSON.stringify({ event, id, at })}\n`)
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line) as Message
  const reply = (result: object): void =>
    void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
  if (method === 'initialize') {
    const serverInfo = { name: 'minute', version: '1.0.0' }
    reply({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo })
  } else if (method === 'tools/list') {
    reply({ tools: [{ name: 'minute', inputSchema: { type: 'object' } }] })
  } else if (method === 'tools/call' && id !== undefined) {
    calls.set(id, params.arguments?.id ?? '')
    record('call', params.arguments?.id ?? '')
    setTimeout(() => reply({ content: [{ type: 'text', text: 'late' }] }), 60_000).unref()
  } else if (method === 'notifications/cancelled') {
    record('cancelled', calls.get(params.requestId ?? -1) ?? '')
  } else if (id !== undefined) reply({})
}
