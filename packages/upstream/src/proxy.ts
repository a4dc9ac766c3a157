export { openTunnel } from './proxy/open-tunnel.ts'
export { proxiesOf, type ProxyFor } from './proxy/proxy-for.ts'
