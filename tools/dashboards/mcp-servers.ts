import type { Dashboard } from './dashboard.ts'
import { lines, p95By, rateBy } from './dashboard.ts'

export const mcpServers: Dashboard = {
  uid: 'mcp-host-servers',
  title: 'MCP servers',
  rows: [
    {
      title: 'State',
      panels: [
        lines('Ready', 'short', {
          expr: 'max by (server) (mcp_host_server_ready)',
          legend: '{{server}}',
        }),
        lines('Health score', 'percentunit', {
          expr: 'min by (server) (mcp_host_server_health_score)',
          legend: '{{server}}',
        }),
        lines('Restarts in the last hour', 'short', {
          expr: 'max by (server) (increase(mcp_host_server_restarts_total[1h]))',
          legend: '{{server}}',
        }),
      ],
    },
    {
      title: 'Requests',
      panels: [
        lines('Requests', 'ops', rateBy('server', 'mcp_host_server_requests_total')),
        lines(
          'Requests without a result',
          'ops',
          rateBy('server, outcome', 'mcp_host_server_requests_total{outcome!="success"}'),
        ),
        lines('Latency, p95', 's', p95By('server', 'mcp_host_server_request_seconds')),
        lines('Busiest tools', 'ops', {
          expr: 'topk(10, sum by (server, tool) (rate(mcp_host_server_requests_total[$__rate_interval])))',
          legend: '{{server}} {{tool}}',
        }),
        lines('Slowest tools, p95', 's', {
          expr: `topk(10, ${p95By('server, tool', 'mcp_host_server_request_seconds').expr})`,
          legend: '{{server}} {{tool}}',
        }),
        lines('Requests in flight', 'short', {
          expr: 'sum by (server) (mcp_host_server_requests_in_flight)',
          legend: '{{server}}',
        }),
      ],
    },
    {
      title: 'Tool calls',
      panels: [
        lines(
          'Tool calls by their end',
          'ops',
          rateBy('server, outcome', 'mcp_host_tool_calls_total'),
        ),
        lines('Duration of tool calls, p95', 's', p95By('server', 'mcp_host_tool_call_seconds')),
        lines(
          'From the cancel to its notice, p95',
          's',
          p95By('server', 'mcp_host_tool_cancel_seconds'),
        ),
      ],
    },
    {
      title: 'Resilience',
      panels: [
        lines('Retries', 'ops', rateBy('server', 'mcp_host_server_retries_total'), {
          expr: 'sum by (recovered_by) (rate(mcp_host_mcp_requests_recovered_total[$__rate_interval]))',
          legend: 'of MCP clients, repaired by {{recovered_by}}',
        }),
        lines('Circuit breakers that are not closed', 'short', {
          expr: 'sum by (server, state) (mcp_host_server_circuits)',
          legend: '{{server}} {{state}}',
        }),
        lines(
          'Changes of circuit breakers',
          'ops',
          rateBy('server, to', 'mcp_host_server_circuit_changes_total'),
        ),
        lines(
          'Requests by instance',
          'ops',
          rateBy('server, instance', 'mcp_host_server_instance_requests_total'),
        ),
        lines(
          'Left out because of a limit',
          'ops',
          rateBy('server, what', 'mcp_host_server_left_out_total'),
        ),
        lines('Tools that differ from their pin', 'short', {
          expr: 'max(mcp_host_changed_tools)',
          legend: 'changed',
        }),
      ],
    },
    {
      title: 'Logins of users',
      panels: [
        lines('Logins', 'short', {
          expr: 'max by (server, state) (mcp_host_server_logins)',
          legend: '{{server}} {{state}}',
        }),
        lines(
          'Tokens that were replaced, or not',
          'ops',
          rateBy('server, outcome', 'mcp_host_server_login_refreshes_total'),
        ),
        lines('Age of the oldest tokens', 's', {
          expr: 'max by (server) (mcp_host_server_login_age_seconds)',
          legend: '{{server}}',
        }),
        lines(
          'Tokens that connections asked for',
          'ops',
          rateBy('server, strategy, outcome', 'mcp_host_server_token_requests_total'),
        ),
      ],
    },
    {
      title: 'MCP clients over sockets',
      panels: [
        lines('Sockets', 'short', {
          expr: 'sum(mcp_host_mcp_sockets_connected)',
          legend: 'open',
        }),
        lines('Messages', 'ops', rateBy('direction', 'mcp_host_mcp_socket_messages_total')),
      ],
    },
  ],
}
