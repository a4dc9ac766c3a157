export { type GuardedFetch, guardedFetch } from './proxy/guarded-fetch.ts'
export { openTunnel } from './proxy/open-tunnel.ts'
export { proxiesOf, type ProxyFor } from './proxy/proxy-for.ts'
