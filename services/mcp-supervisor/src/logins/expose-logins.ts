import type { Registry } from 'prom-client'
import { Gauge } from 'prom-client'
import type { KnownLogin } from './login-vault.ts'

/** Exposes how many logins there are, and how old they are. Every supervisor knows all of them. */
export function exposeLogins(metrics: Registry, all: () => readonly KnownLogin[]): void {
  const age: Gauge = new Gauge({
    name: 'mcp_host_server_login_age_seconds',
    help: 'The time since the tokens of a login at the MCP server were got, of the oldest login that can be used',
    labelNames: ['server'],
    registers: [metrics],
    collect() {
      age.reset()
      const usable = all().filter(({ isUsable }) => isUsable)
      for (const [server, logins] of Map.groupBy(usable, (each) => each.server)) {
        const since = logins.map(({ connectedAt, renewedAt = connectedAt }) => renewedAt)
        age.set({ server }, Math.max(0, Date.now() - Math.min(...since)) / 1_000)
      }
    },
  })
  const gauge: Gauge = new Gauge({
    name: 'mcp_host_server_logins',
    help: 'Logins of users at MCP servers: usable, or needed again',
    labelNames: ['server', 'state'],
    registers: [metrics],
    collect() {
      gauge.reset()
      for (const { server, isUsable } of all()) {
        gauge.inc({ server, state: isUsable ? 'usable' : 'needed' })
      }
    },
  })
}
