import type { Dashboard } from './dashboard.ts'
import { lines, number, percentiles, rateBy } from './dashboard.ts'

export const chat: Dashboard = {
  uid: 'mcp-host-chat',
  title: 'chat',
  rows: [
    {
      title: 'Turns',
      panels: [
        number('Turns that run', 'short', 'sum(mcp_host_turns_running)'),
        number('Messages that wait', 'short', 'mcp_host:inputs_waiting'),
        number('Generations that run', 'short', 'sum(mcp_host_generations_running)'),
        number('Tool calls that run', 'short', 'sum(mcp_host_tool_calls_running)'),
        number('Answers later than 10 s', 'percentunit', 'mcp_host:first_text_late:ratio1h'),
        number('Failed requests', 'percentunit', 'mcp_host:requests_failed:ratio1h'),
        lines('Messages', 'ops', {
          ...rateBy('', 'mcp_host_messages_accepted_total'),
          legend: 'accepted',
        }),
        lines('Turns by their end', 'ops', rateBy('outcome', 'mcp_host_turns_total')),
        lines(
          'Work',
          'short',
          { expr: 'sum(mcp_host_turns_running)', legend: 'turns that run' },
          { expr: 'mcp_host:inputs_waiting', legend: 'messages that wait' },
        ),
      ],
    },
    {
      title: 'Latency',
      panels: [
        lines(
          'From the message to the first text',
          's',
          ...percentiles('mcp_host_first_text_seconds'),
        ),
        lines('From the cancel to its end', 's', ...percentiles('mcp_host_cancel_seconds')),
        lines('Cancels', 'ops', { ...rateBy('', 'mcp_host_cancels_total'), legend: 'cancels' }),
      ],
    },
    {
      title: 'Troubles',
      panels: [
        lines(
          'Second attempts',
          'ops',
          { ...rateBy('', 'mcp_host_generations_retried_total'), legend: 'generations' },
          {
            ...rateBy('', 'mcp_host_jobs_taken_over_total'),
            legend: 'turns of dead orchestrators',
          },
        ),
        lines('Tool calls that reached no server', 'ops', {
          ...rateBy('', 'mcp_host_tool_calls_refused_total'),
          legend: 'refused',
        }),
        lines('Shortened conversations', 'ops', rateBy('how', 'mcp_host_context_compacted_total')),
      ],
    },
  ],
}
