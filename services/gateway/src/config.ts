import type { Config } from '@mcp-host/service'
import { approvalSettings, isLoopback, setting, values } from '@mcp-host/service'

/** Whether a successor can listen on the port of a gateway that still works. */
export const canSharePort = process.platform === 'linux'

/** Settings of the gateways. */
export const gatewaySettings = {
  port: setting({
    env: 'PORT',
    schema: values.integer(0, 65_535),
    default: '3000',
    describe:
      'Port of the gateway; 0 takes a free one. On Linux several gateways of one user may share it.',
  }),
  host: setting({
    env: 'HOST',
    schema: values.text.refine(
      isLoopback,
      'must be a loopback address (127.0.0.1, ::1, localhost), as there is no authentication yet',
    ),
    default: '127.0.0.1',
    describe: 'Address the gateway listens on. Only loopback until clients have to authenticate.',
  }),
  allowedOrigins: setting({
    env: 'ALLOWED_ORIGINS',
    schema: values.list.superRefine((origins, context) => {
      const faulty = origins.filter((each) => URL.parse(each)?.origin !== each)
      if (faulty.length === 0) return
      const message = `${faulty.join(', ')} must be scheme://host[:port] and nothing more`
      context.addIssue({ code: 'custom', message })
    }),
    default: '',
    describe:
      'Web origins, besides those on loopback, whose pages may connect; by commas, as https://chat.example.com.',
  }),
  bundlesConfig: setting({
    env: 'BUNDLES_CONFIG',
    schema: values.text,
    default: 'bundles.json',
    describe:
      'File with bundles of MCP servers, offered at /mcp/bundles/<name>; read again when it changes. The default need not exist; none is no file.',
  }),
  heartbeatMs: setting({
    env: 'HEARTBEAT_MS',
    schema: values.integer(100, 600_000),
    default: '30000',
    describe: 'How often a socket is pinged, in milliseconds; one that misses two is closed.',
  }),
  mcpStreamMs: setting({
    env: 'MCP_STREAM_MS',
    schema: values.integer(0, 86_400_000),
    default: '0',
    describe:
      'How long the stream of one request at /mcp stays open before a client of 2025-11-25 has to come back for the rest, in milliseconds: less than what a proxy allows. 0: until its end.',
  }),
  ...approvalSettings,
}

export type GatewayConfig = Config<typeof gatewaySettings>
