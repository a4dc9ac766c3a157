import { limitSettings, rateValue, setting, values } from '@mcp-host/service'

/** Limits for requests of clients, counted over all gateways. */
export const gatewayLimitSettings = {
  ...limitSettings,
  limitAddress: setting({
    env: 'LIMIT_ADDRESS',
    schema: rateValue,
    default: 'off',
    describe:
      'Requests of each client address, counted before it authenticates, as 100/s. An IPv6 address counts with its /64 network.',
  }),
  limitRequests: setting({
    env: 'LIMIT_REQUESTS',
    schema: rateValue,
    default: 'off',
    describe: 'Requests of each principal, frames of its sockets included, as 100/s.',
  }),
  limitMessages: setting({
    env: 'LIMIT_MESSAGES',
    schema: rateValue,
    default: 'off',
    describe: 'Chat messages of each principal, as 30/m.',
  }),
  limitSessionMessages: setting({
    env: 'LIMIT_SESSION_MESSAGES',
    schema: rateValue,
    default: 'off',
    describe: 'Chat messages in each session, as 10/m.',
  }),
  limitSockets: setting({
    env: 'LIMIT_SOCKETS',
    schema: values.integer(0, 1_000_000),
    default: '0',
    describe:
      'Open sockets, and streams of messages, sessions or the changes of servers, of each principal at one gateway. Readers of share links count by their address. 0 is without limit.',
  }),
  trustedProxies: setting({
    env: 'TRUSTED_PROXIES',
    schema: values.list,
    default: '',
    describe:
      'Addresses and networks of reverse proxies whose X-Forwarded-For names the client, by commas, as 10.0.0.0/8 or loopback.',
  }),
}
