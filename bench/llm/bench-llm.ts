import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Bus } from '@mcp-host/bus'
import {
  generate,
  generationId,
  newEnvelope,
  newSessionId,
  shardOf,
  textDelta,
} from '@mcp-host/contracts'
import { startStack } from '@mcp-host/testkit'
import { Guardian, spawnGuarded } from 'mcp-host/process'
import { now } from '../chat/load.ts'
import { cpuMs, rssMb } from '../process-usage.ts'
import { quantile } from '../quantile.ts'
import type { Answer, AnswerFigures, Load } from './load.ts'
import { applyLoad } from './load.ts'

const TOKENS_PER_SECOND = 20
const LEVELS = [
  { generations: 1, rounds: 40, tokens: 10 },
  { generations: 50, rounds: 8, tokens: 50 },
  { generations: 500, rounds: 1, tokens: 100 },
]
const ANSWER_LIMIT_MS = 120_000

interface Target {
  readonly name: string
  readonly pid: number
  readonly apply: (load: Load) => Promise<AnswerFigures[]>
}

/** One worker beside the provider's package without a host, at a provider that writes in a set pace. */
export async function benchLlm(): Promise<object> {
  await using stack = new AsyncDisposableStack()
  const guardian = stack.use(new Guardian())
  const provider = await startProgram(guardian, 'provider.ts')
  const [url = ''] = (await once(provider.lines, 'line')) as string[]
  const direct = await startProgram(guardian, 'direct.ts', url)
  const host = stack.use(
    await startStack({
      env: {
        LLM_PROVIDER: 'openai-compatible',
        LLM_MODEL: 'm',
        OPENAI_COMPATIBLE_BASE_URL: url,
        MAX_GENERATIONS: '1000',
      },
    }),
  )
  const bus = await host.broker.connect('bench')
  const targets: Target[] = [
    {
      name: 'package',
      pid: direct.pid,
      async apply(load) {
        direct.stdin.write(`${JSON.stringify(load)}\n`)
        const [line = ''] = (await once(direct.lines, 'line')) as string[]
        return JSON.parse(line) as AnswerFigures[]
      },
    },
    {
      name: 'worker',
      pid: host.pids()['llm-worker'] ?? 0,
      apply: (load) => applyLoad(load, () => askWorker(bus, load)),
    },
  ]
  const results: object[] = []
  for (const target of targets) {
    console.log(`warming up ${target.name}`)
    await target.apply({ generations: 50, rounds: 12, tokens: 20, tokensPerSecond: 100 })
  }
  for (const level of LEVELS) {
    for (const target of targets) {
      results.push(await measure(target, { ...level, tokensPerSecond: TOKENS_PER_SECOND }))
    }
  }
  return { tokensPerSecondPerAnswer: TOKENS_PER_SECOND, results }
}

/** One generation, from the request over the bus to the last text that comes over it. */
async function askWorker(bus: Bus, { tokens, tokensPerSecond }: Answer): Promise<AnswerFigures> {
  const session = newSessionId()
  const ended = Promise.withResolvers<AnswerFigures>()
  const deltas: number[] = []
  let first = Number.NaN
  let askedAt = now()
  using _ = bus.listen(textDelta, { session, shard: shardOf(session) }, ({ text }) => {
    const at = now()
    if (deltas.length === 0) first = (at - askedAt) / 1_000
    for (const stamp of text.trim().split(' ')) deltas.push((at - Number(stamp)) / 1_000)
    if (deltas.length === tokens) ended.resolve({ first, deltas })
  })
  // Else the first text could be there before the broker knows who listens.
  await bus.ping()
  askedAt = now()
  await bus.call(
    generate,
    {},
    {
      session,
      turn: 1,
      generation: generationId(session, 0),
      messages: [{ role: 'user', text: JSON.stringify({ tokens, tokensPerSecond }) }],
      tools: [],
      deadline: Date.now() + ANSWER_LIMIT_MS,
    },
    { envelope: newEnvelope('local'), timeoutMs: 10_000 },
  )
  const late = setTimeout(() => ended.reject(new Error('an answer did not end')), ANSWER_LIMIT_MS)
  return await ended.promise.finally(() => clearTimeout(late))
}

async function measure({ name, pid, apply }: Target, load: Load): Promise<object> {
  const cpu = cpuMs(pid)
  const figures = await apply(load)
  const cpuUsPerToken = Math.round(
    ((cpuMs(pid) - cpu) * 1_000) / (load.generations * load.rounds * load.tokens),
  )
  const part = (values: readonly number[]) => ({
    p50: quantile(values, 0.5),
    p99: quantile(values, 0.99),
  })
  const firstTextMs = part(figures.map(({ first }) => first))
  const perTokenMs = part(figures.flatMap(({ deltas }) => deltas))
  const { generations } = load
  console.log(`\n${name}, ${generations} answers at once
  first text      ${firstTextMs.p50} (p99 ${firstTextMs.p99}) ms
  each token      ${perTokenMs.p50} (p99 ${perTokenMs.p99}) ms
  CPU, memory     ${cpuUsPerToken} µs per token, ${rssMb(pid)} MB`)
  return { target: name, generations, firstTextMs, perTokenMs, cpuUsPerToken, rssMb: rssMb(pid) }
}

async function startProgram(guardian: Guardian, file: string, ...args: string[]) {
  const { pid, stdin, stdout } = await spawnGuarded(guardian, {
    command: process.execPath,
    args: [join(import.meta.dirname, file), ...args],
    cwd: import.meta.dirname,
    env: { PATH: process.env['PATH'] },
    stdin: 'pipe',
    stderr: 'inherit',
  })
  if (stdin === null || stdout === null) throw new Error(`${file} has no pipes`)
  return { pid, stdin, lines: createInterface({ input: stdout }) }
}
