export { openTunnel, proxiesOf, type ProxyFor } from '@mcp-host/upstream/proxy'
