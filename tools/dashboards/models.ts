import type { Dashboard } from './dashboard.ts'
import { lines, number, p95By, rateBy } from './dashboard.ts'

const MODEL = 'provider, model'
const increaseOf = (counter: string, window: string): string =>
  `sum by (${MODEL}) (increase(${counter}[${window}]))`
const legend = '{{provider}} {{model}}'

export const models: Dashboard = {
  uid: 'mcp-host-models',
  title: 'models and cost',
  rows: [
    {
      title: 'Cost',
      panels: [
        number('Cost of the last day', 'short', 'sum(increase(mcp_host_turn_cost_total[1d]))'),
        number('Tokens of the last day', 'short', 'sum(increase(mcp_host_turn_tokens_total[1d]))'),
        {
          ...lines('Cost of an hour', 'short', {
            expr: increaseOf('mcp_host_turn_cost_total', '1h'),
            legend,
          }),
          description: 'By the prices in llm.json, in their currency; 0 for models without prices.',
        },
        lines('Tokens of an hour', 'short', {
          expr: 'sum by (provider, model, kind) (increase(mcp_host_turn_tokens_total[1h]))',
          legend: `${legend} {{kind}}`,
        }),
      ],
    },
    {
      title: 'Generations',
      panels: [
        lines('Generations', 'ops', rateBy(MODEL, 'mcp_host_generations_total')),
        lines('Generations that fail', 'percentunit', {
          expr: 'mcp_host:generations_failed:ratio5m',
          legend: '{{provider}}',
        }),
        lines('Generations that run', 'short', {
          expr: 'sum(mcp_host_generations_running)',
          legend: 'all workers',
        }),
        lines(
          'First text of the provider, p95',
          's',
          p95By(MODEL, 'mcp_host_generation_first_text_seconds'),
        ),
        lines(
          'From the cancel to its end, p95',
          's',
          p95By(MODEL, 'mcp_host_generation_cancel_seconds'),
        ),
      ],
    },
  ],
}
