import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { isListedModel } from './context/catalog-tools.ts'
import { orchestratorEvents } from './events.ts'

test('tokens and costs are counted by model, and models that no provider lists count as other', async () => {
  const registry = new Registry()
  const entries = new Map([
    ['model.default', { kind: 'model', provider: 'own', model: 'tuned' }],
    ['provider.openai', { kind: 'provider', provider: 'openai', models: [{ id: 'gpt' }] }],
  ]) as Parameters<typeof isListedModel>[0]['entries']
  const events = orchestratorEvents(registry, (usage) => isListedModel({ entries }, usage))
  const used = { inputTokens: 100, outputTokens: 10, cost: 0.5, generations: 1 }
  events.turnDone('completed', [
    { provider: 'openai', model: 'gpt', ...used },
    { provider: 'own', model: 'tuned', ...used },
    { provider: 'openai', model: 'made-up', ...used },
    { provider: 'nobody', model: 'gpt', ...used },
  ])
  const text = await registry.metrics()
  const tokens = 'mcp_host_turn_tokens_total'
  expect(text).toContain(`${tokens}{provider="openai",model="gpt",kind="input"} 100`)
  expect(text).toContain(`${tokens}{provider="own",model="tuned",kind="output"} 10`)
  expect(text).toContain(`${tokens}{provider="other",model="other",kind="input"} 200`)
  expect(text).toContain('mcp_host_turn_cost_total{provider="other",model="other"} 1')
  expect(text).not.toContain('made-up')
})
