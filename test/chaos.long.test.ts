// A minute of `npm run chaos` on one nats-server. Clusters and longer runs are run by command.
import { runChaos } from '@mcp-host/chaos'
import { expect, test } from 'vitest'

test('sessions of many principals lose, duplicate and garble nothing, and each call is audited, while processes are killed, stopped and frozen', async () => {
  const lines: string[] = []
  const report = await runChaos({
    seed: 1,
    sessions: 20,
    targets: ['gateway', 'orchestrator', 'mcp-supervisor', 'llm-worker', 'nats'],
    kinds: ['kill', 'term', 'stop'],
    natsServers: 1,
    turns: 0,
    faults: 0,
    seconds: 60,
    hasAuth: true,
    logins: 5,
    isKept: false,
    say: (line) => lines.push(line),
  })
  expect(report.firstViolations, lines.join('\n')).toEqual([])
  expect(report.turns).toBeGreaterThan(20)
  expect(Object.keys(report.outcomes)).toEqual(['cancelled', 'completed'])
  expect(report.deleted).toBeGreaterThan(3)
  expect(report.logins?.calls).toBeGreaterThan(5)
  expect(report.logins?.refreshes).toBeGreaterThan(5)
  expect(report.landed).toMatchObject({
    kill: expect.toSatisfy((count: number) => count > 0),
    term: expect.toSatisfy((count: number) => count > 0),
    stop: expect.toSatisfy((count: number) => count > 0),
  })
}, 400_000)

test('clients see only reconnects while the services are restarted one after another', async () => {
  const lines: string[] = []
  const report = await runChaos({
    seed: 1,
    sessions: 12,
    targets: ['gateway', 'orchestrator', 'mcp-supervisor', 'llm-worker'],
    kinds: ['term-one-instance'],
    natsServers: 1,
    turns: 0,
    faults: 0,
    seconds: 20,
    isKept: false,
    say: (line) => lines.push(line),
  })
  expect(report.firstViolations, lines.join('\n')).toEqual([])
  expect(report.turns).toBeGreaterThan(12)
  // Only users may cancel turns; other cancels are violations.
  expect(Object.keys(report.outcomes)).toEqual(expect.arrayContaining(['completed']))
  expect(report.outcomes).not.toHaveProperty('failed')
  expect(report.landed['total']).toBeGreaterThan(3)
}, 200_000)

test('every loss is reported while servers misbehave and stored data is damaged', async () => {
  const lines: string[] = []
  const report = await runChaos({
    seed: 2,
    sessions: 12,
    targets: ['nats'],
    kinds: ['hostile-server', 'corrupt'],
    natsServers: 1,
    turns: 0,
    faults: 4,
    seconds: 40,
    isKept: false,
    say: (line) => lines.push(line),
  })
  expect(report.firstViolations, lines.join('\n')).toEqual([])
  expect(report.landed).toMatchObject({
    corrupt: expect.toSatisfy((count: number) => count > 0),
    'hostile-server': expect.toSatisfy((count: number) => count > 0),
  })
}, 300_000)
