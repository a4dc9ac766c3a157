import type { Dashboard } from './dashboard.ts'
import { lines, number, p95By, rateBy } from './dashboard.ts'

export const overview: Dashboard = {
  uid: 'mcp-host-overview',
  title: 'overview',
  rows: [
    {
      title: 'Now',
      panels: [
        number('Turns a minute', 'short', '60 * sum(rate(mcp_host_turns_total[5m]))'),
        number('Turns that fail', 'percentunit', 'mcp_host:turns_failed:ratio5m'),
        number('Messages that wait', 'short', 'mcp_host:inputs_waiting'),
        number('Chat sockets', 'short', 'sum(mcp_host_sockets_connected)'),
        number('MCP servers ready', 'short', 'sum(max by (server) (mcp_host_server_ready))'),
        number('MCP servers away', 'short', 'sum(1 - max by (server) (mcp_host_server_ready))'),
      ],
    },
    {
      title: 'Entrances',
      panels: [
        lines('Requests', 'ops', rateBy('entrance', 'mcp_host_request_seconds_count')),
        lines(
          'Requests that get an error',
          'ops',
          rateBy('entrance, method', 'mcp_host_request_seconds_count{outcome="error"}'),
        ),
        lines('Latency, p95', 's', p95By('entrance', 'mcp_host_request_seconds')),
        lines(
          'Latency at /mcp, p95',
          's',
          p95By('method', 'mcp_host_request_seconds{entrance="mcp"}'),
        ),
        lines('Credentials', 'ops', rateBy('outcome', 'mcp_host_authentications_total')),
        lines('Refusals', 'ops', rateBy('limit', 'mcp_host_limited_total'), {
          ...rateBy('', 'mcp_host_tool_calls_denied_total'),
          legend: 'denied by the policy',
        }),
      ],
    },
    {
      title: 'Processes',
      panels: [
        lines('Processes', 'short', {
          expr: 'count by (service) (mcp_host_broker_connected)',
          legend: '{{service}}',
        }),
        lines('Processor cores', 'short', rateBy('service', 'process_cpu_seconds_total')),
        lines('Memory', 'bytes', {
          expr: 'max by (service) (process_resident_memory_bytes)',
          legend: '{{service}}',
        }),
        lines('Event loop lag, p99', 's', {
          expr: 'max by (service) (nodejs_eventloop_lag_p99_seconds)',
          legend: '{{service}}',
        }),
        lines('Starts in the last hour', 'short', {
          expr: 'sum by (service) (changes(process_start_time_seconds{service!=""}[1h]))',
          legend: '{{service}}',
        }),
      ],
    },
  ],
}
