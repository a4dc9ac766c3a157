import type { Stack, StackOptions } from '@mcp-host/testkit'
import { startStack } from '@mcp-host/testkit'
import type { Strain } from './control-windows.ts'
import { compareWindows } from './control-windows.ts'
import { crowd } from './many-sockets.ts'
import { longHistory } from './history.ts'
import { longQueue } from './queue.ts'
import { largeResult, RESULT_BYTES } from './result.ts'
import { slowReader } from './slow-reader.ts'

const strains: Readonly<Record<string, (stack: Stack) => Promise<Strain>>> = {
  history: longHistory,
  result: largeResult,
  queue: longQueue,
  crowd,
  'slow-reader': slowReader,
}

const TOOLS: NonNullable<StackOptions['tools']> = [
  { name: 'echo', inputSchema: { type: 'object' } },
  { name: 'large', inputSchema: { type: 'object' }, bytes: RESULT_BYTES },
]

/** Loads use another MCP server than the bystanders. */
const SERVERS = { other: {} }

/** Measures the latency of other chats beside each load, on a separate host. Default: all loads. */
export async function benchStress(names: readonly string[]): Promise<object> {
  const figures: Record<string, object> = {}
  for (const name of names.length === 0 ? Object.keys(strains) : names) {
    const start = strains[name]
    if (start === undefined) {
      throw new Error(`there is no load "${name}"; there are ${Object.keys(strains).join(', ')}`)
    }
    try {
      await using stack = await startStack({ tools: TOOLS, servers: SERVERS })
      figures[name] = await compareWindows(stack, await start(stack))
    } catch (error) {
      // The other loads are still measured.
      console.error(name, error)
      figures[name] = { error: String(error) }
      process.exitCode = 1
    }
    console.log(name, figures[name])
  }
  return figures
}
