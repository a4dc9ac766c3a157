// A minute of `npm run chaos -- --compose`.
import { runChaos } from '@mcp-host/chaos'
import { missingForCompose } from '@mcp-host/testkit'
import { expect, test } from 'vitest'

const missing = missingForCompose()
const reason = missing === undefined ? '' : ` (skipped: there is no ${missing})`

test.skipIf(missing !== undefined)(
  `sessions lose, duplicate and garble nothing while containers are killed, stopped and paused${reason}`,
  async () => {
    const lines: string[] = []
    const report = await runChaos({
      seed: 1,
      sessions: 10,
      targets: ['gateway', 'orchestrator', 'mcp-supervisor', 'llm-worker', 'nats'],
      kinds: ['kill', 'term', 'stop'],
      natsServers: 1,
      turns: 0,
      faults: 0,
      seconds: 90,
      hasAuth: true,
      isCompose: true,
      isKept: false,
      say: (line) => lines.push(line),
    })
    expect(report.firstViolations, lines.join('\n')).toEqual([])
    expect(report.turns).toBeGreaterThan(20)
    expect(report.landed).toMatchObject({
      kill: expect.toSatisfy((count: number) => count > 0),
      term: expect.toSatisfy((count: number) => count > 0),
      stop: expect.toSatisfy((count: number) => count > 0),
    })
  },
  1_200_000,
)
