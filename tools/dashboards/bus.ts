import type { Dashboard } from './dashboard.ts'
import { lines, rateBy } from './dashboard.ts'

export const bus: Dashboard = {
  uid: 'mcp-host-bus',
  title: 'bus',
  rows: [
    {
      title: 'nats-server',
      panels: [
        lines('Processes without a connection', 'short', {
          expr: 'sum by (service) (1 - mcp_host_broker_connected)',
          legend: '{{service}}',
        }),
        lines('Processes whose writes are not stored', 'short', {
          expr: 'sum by (service) (mcp_host_storage_faulty)',
          legend: '{{service}}',
        }),
        lines('Inputs that are not done', 'short', {
          expr: 'max(mcp_host_inputs_unfinished)',
          legend: 'inputs',
        }),
      ],
    },
    {
      title: 'Storage',
      panels: [
        lines('Bytes', 'bytes', {
          expr: 'max by (stream) (mcp_host_stream_bytes)',
          legend: '{{stream}}',
        }),
        {
          ...lines('Disk', 'bytes', {
            expr: 'min by (part) (mcp_host_store_disk_bytes)',
            legend: '{{part}}',
          }),
          description:
            'Only where services have STORE_DIR or NATS_MAX_FILE_STORE. New work is refused when no room is left.',
        },
      ],
    },
    {
      title: 'Audit log',
      panels: [
        lines('Entries', 'ops', rateBy('service', 'mcp_host_audit_entries_total')),
        lines('Age of the oldest waiting entry', 's', {
          expr: 'max by (service) (mcp_host_audit_lag_seconds)',
          legend: '{{service}}',
        }),
        lines('Lost entries', 'ops', rateBy('service', 'mcp_host_audit_dropped_total')),
      ],
    },
  ],
}
