// An MCP server whose one tool takes a minute. Notes in the file given to it when a call came and when it
// was told to stop, as epoch milliseconds.
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

interface Message {
  id?: number
  method?: string
  params?: { protocolVersion?: string; arguments?: { id?: string }; requestId?: number }
}

const [, , journal = ''] = process.argv
const calls = new Map<number, string>()
const note = (what: string, id: string): void =>
  appendFileSync(
    journal,
    `${JSON.stringify({ what, id, at: performance.timeOrigin + performance.now() })}\n`,
  )

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
    note('call', params.arguments?.id ?? '')
    setTimeout(() => reply({ content: [{ type: 'text', text: 'late' }] }), 60_000).unref()
  } else if (method === 'notifications/cancelled') {
    note('cancelled', calls.get(params.requestId ?? -1) ?? '')
  } else if (id !== undefined) reply({})
}
