export { openTunnel } from './proxy/open-tunnel.ts'
export { type ProxyFor, proxiesOf } from './proxy/proxy-for.ts'
