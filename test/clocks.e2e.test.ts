// The host while the clock of one service differs from those of the others.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { SERVICES } from '@mcp-host/tools/host'
import { ChatSocket, script, startStack } from '@mcp-host/testkit'
import { expect, test } from 'vitest'

const tools = [
  { name: 'echo', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } },
]

test.each(SERVICES.map((name, index) => [name, SERVICES.at(index - 1) ?? name] as const))(
  'a chat with a tool call and an MCP call work while the clock of the %s is 5 s ahead and that of the %s 5 s behind',
  async (ahead, behind) => {
    const clockOffsetsMs = { [ahead]: 5_000, [behind]: -5_000 }
    await using stack = await startStack({ tools, clockOffsetsMs })
    using chat = await ChatSocket.open(stack)
    chat.say(
      script(
        { calls: [{ name: 'test__echo', arguments: { text: 'chat' } }] },
        { text: 'after the call' },
      ),
    )
    await chat.turnsDone()
    expect(chat.text).toBe('after the call')
    const client = new Client({ name: 'clocks', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', stack.url)))
    const answer = await client.callTool({ name: 'test__echo', arguments: { text: 'mcp' } })
    await client.close()
    expect(answer.isError ?? false).toBe(false)
    const journal = await stack.journal()
    expect(journal.map(({ arguments: given }) => given)).toEqual([
      { text: 'chat' },
      { text: 'mcp' },
    ])
    const health: unknown = await (await fetch(new URL('/health', stack.url))).json()
    expect(health).toMatchObject({
      clock: ahead === 'gateway' || behind === 'gateway' ? 'wrong' : 'right',
    })
    for (const [name, offset] of [
      [ahead, 5],
      [behind, -5],
    ] as const) {
      const metrics = await (await fetch(new URL('/metrics', stack.urlOf(name)))).text()
      const [, seconds] = /^mcp_host_clock_offset_seconds{.*} (.*)$/m.exec(metrics) ?? []
      expect(Math.abs(Number(seconds) - offset)).toBeLessThan(2)
      expect(await stack.log(name)).toContain('the clock of this machine differs')
    }
  },
)
