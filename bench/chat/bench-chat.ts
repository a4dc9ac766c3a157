import { once } from 'node:events'
import { join } from 'node:path'
import { startStack } from '@mcp-host/testkit'
import { Guardian } from '@mcp-host/process'
import { cpuMs, rssMb } from '../process-usage.ts'
import { quantiles } from '../quantile.ts'
import { startProgram } from '../start-program.ts'
import type { Load, LoadFigures } from './load.ts'
import { applyLoad } from './load.ts'

const TOKENS_PER_SECOND = 50
const LEVELS = [
  { chats: 1, turns: 20, tokens: 25 },
  { chats: 50, turns: 3, tokens: 100 },
  { chats: 200, turns: 3, tokens: 100 },
]

interface Target {
  readonly name: string
  readonly url: string
  readonly pids: Readonly<Record<string, number>>
}

/** Chats with the demo model at a fixed rate: through the host as shipped, and through a single process without it. */
export async function benchChat(): Promise<object> {
  await using stack = new AsyncDisposableStack()
  const host = stack.use(await startStack())
  const file = join(import.meta.dirname, 'baseline.ts')
  const baseline = await startProgram(stack.use(new Guardian()), file)
  const [url = ''] = (await once(baseline.lines, 'line')) as string[]
  const targets: Target[] = [
    { name: 'host', url: host.url, pids: host.pids() },
    { name: 'baseline', url, pids: { baseline: baseline.pid, client: process.pid } },
  ]
  for (const target of targets) {
    console.log(`warming up ${target.name}`)
    await applyLoad({ url: target.url, chats: 20, turns: 10, tokens: 20, tokensPerSecond: 1_000 })
  }
  const results: object[] = []
  for (const level of LEVELS) {
    for (const target of targets) results.push(await measure(target, level))
  }
  return { tokensPerSecondPerChat: TOKENS_PER_SECOND, results }
}

async function measure(
  target: Target,
  level: Omit<Load, 'url' | 'tokensPerSecond'>,
): Promise<object> {
  const before = Object.entries(target.pids).map(([name, pid]) => [name, cpuMs(pid)] as const)
  const figures = await applyLoad({ ...level, url: target.url, tokensPerSecond: TOKENS_PER_SECOND })
  const tokens = level.chats * level.turns * level.tokens
  const processes = Object.fromEntries(
    before.map(([name, cpu]) => {
      const pid = target.pids[name] ?? 0
      const cpuUsPerToken = Math.round(((cpuMs(pid) - cpu) * 1_000) / tokens)
      return [name, { cpuUsPerToken, rssMb: rssMb(pid) }]
    }),
  )
  const result = {
    target: target.name,
    chats: level.chats,
    ...summarize(figures, tokens),
    processes,
  }
  print(result)
  return result
}

function summarize({ turns, seconds }: LoadFigures, tokens: number) {
  const part = (pick: (turn: LoadFigures['turns'][number]) => number) =>
    quantiles(turns.map(pick), 'p50', 'p99')
  const deltas = turns.flatMap((turn) => turn.deltas)
  return {
    tokensPerSecond: Math.round(tokens / seconds),
    firstTextMs: part((turn) => turn.firstText),
    parts: {
      acceptMs: part((turn) => turn.accept),
      claimMs: part((turn) => turn.claim),
      requestMs: part((turn) => turn.request),
      firstDeltaMs: part((turn) => turn.firstDelta),
    },
    addedPerDeltaMs: quantiles(deltas, 'p50', 'p99'),
  }
}

type Result = ReturnType<typeof summarize> & {
  target: string
  chats: number
  processes: Record<string, { cpuUsPerToken: number; rssMb: number }>
}

function print({ target, chats, processes, ...figures }: Result): void {
  const span = ({ p50, p99 }: { p50: number; p99: number }): string => `${p50} (p99 ${p99})`
  const { acceptMs, claimMs, requestMs, firstDeltaMs } = figures.parts
  console.log(`\n${target}, ${chats} chats, ${figures.tokensPerSecond} tokens/s`)
  console.log(`  first text      ${span(figures.firstTextMs)} ms`)
  console.log(`    accepted after ${span(acceptMs)}, claimed after ${span(claimMs)}`)
  console.log(`    then request ${span(requestMs)}, first delta ${span(firstDeltaMs)}`)
  console.log(`  added per delta ${span(figures.addedPerDeltaMs)} ms`)
  for (const [name, { cpuUsPerToken, rssMb: rss }] of Object.entries(processes)) {
    console.log(`  ${name.padEnd(15)} ${cpuUsPerToken} µs CPU per token, ${rss} MB`)
  }
}
