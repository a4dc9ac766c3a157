import { once } from 'node:events'
import { join } from 'node:path'
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
import { Guardian } from '@mcp-host/process'
import { nowUs } from '../chat/load.ts'
import { cpuMs, rssMb } from '../process-usage.ts'
import { quantiles } from '../quantile.ts'
import { startProgram } from '../start-program.ts'
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

/** Compares one worker with the provider package without a host, at a provider that writes at a fixed rate. */
export async function benchLlm(): Promise<object> {
  await using stack = new AsyncDisposableStack()
  const guardian = stack.use(new Guardian())
  const provider = await startProgram(guardian, join(import.meta.dirname, 'provider.ts'))
  const [url = ''] = (await once(provider.lines, 'line')) as string[]
  const direct = await startProgram(guardian, join(import.meta.dirname, 'direct.ts'), url)
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

/** Runs one generation, from the request over the bus to its last text. */
async function askWorker(bus: Bus, { tokens, tokensPerSecond }: Answer): Promise<AnswerFigures> {
  const session = newSessionId()
  const ended = Promise.withResolvers<AnswerFigures>()
  const deltas: number[] = []
  let first = Number.NaN
  let askedAt = nowUs()
  using _ = bus.listen(textDelta, { session, shard: shardOf(session) }, ({ text }) => {
    const at = nowUs()
    if (deltas.length === 0) first = (at - askedAt) / 1_000
    for (const stamp of text.trim().split(' ')) deltas.push((at - Number(stamp)) / 1_000)
    if (deltas.length === tokens) ended.resolve({ first, deltas })
  })
  // The subscription reaches the broker before the first text.
  await bus.ping()
  askedAt = nowUs()
  await bus.call(
    generate,
    {},
    {
      session,
      turn: 1,
      generation: generationId(session, 0),
      messages: [{ role: 'user', text: JSON.stringify({ tokens, tokensPerSecond }) }],
      tools: [],
      limitMs: ANSWER_LIMIT_MS,
      deadline: Date.now() + ANSWER_LIMIT_MS,
    },
    { envelope: newEnvelope('local'), timeoutMs: 10_000 },
  )
  const late = setTimeout(() => ended.reject(new Error('an answer did not end')), ANSWER_LIMIT_MS)
  return await ended.promise.finally(() => clearTimeout(late))
}

async function measure({ name, pid, apply }: Target, load: Load): Promise<object> {
  const { generations, rounds, tokens } = load
  const cpu = cpuMs(pid)
  const figures = await apply(load)
  const firsts = figures.map(({ first }) => first)
  const deltas = figures.flatMap((each) => each.deltas)
  const result = {
    target: name,
    generations,
    firstTextMs: quantiles(firsts, 'p50', 'p99'),
    perTokenMs: quantiles(deltas, 'p50', 'p99'),
    cpuUsPerToken: Math.round(((cpuMs(pid) - cpu) * 1_000) / (generations * rounds * tokens)),
    rssMb: rssMb(pid),
  }
  const { firstTextMs, perTokenMs } = result
  console.log(`\n${name}, ${generations} answers at once
  first text      ${firstTextMs.p50} (p99 ${firstTextMs.p99}) ms
  each token      ${perTokenMs.p50} (p99 ${perTokenMs.p99}) ms
  CPU, memory     ${result.cpuUsPerToken} µs per token, ${result.rssMb} MB`)
  return result
}
