import type { AuditLog, AuditRecord } from '@mcp-host/audit'
import type { Logger } from '@mcp-host/service'
import type { Registry } from 'prom-client'
import { Counter } from 'prom-client'
import type { Account } from './account.ts'

/** `refused`: the login is over; `failed`: it could not be asked, and nothing is lost. */
type Replacement = 'ok' | 'refused' | 'failed'

/** What happens to logins. */
export interface LoginEvents {
  connected(account: Account): void
  /** `by`: the principal that ended it. */
  disconnected(account: Account, by: string): void
  /** A token was replaced, or could not be. */
  replaced(account: Account, outcome: Replacement): void
}

export interface LoginEventsDeps {
  readonly logger: Logger
  readonly metrics: Registry
  /** The audit log; absent when it is off. */
  readonly audit?: AuditLog | undefined
}

/** Writes what happens to logins into the log, the metrics and the audit log. */
export function loginEvents({ logger, metrics, audit }: LoginEventsDeps): LoginEvents {
  const replacements = new Counter({
    name: 'mcp_host_server_login_refreshes_total',
    help: 'Replacements of tokens of users at MCP servers: ok, refused (the user has to log in again), failed (the login stays as it is)',
    labelNames: ['server', 'outcome'],
    registers: [metrics],
  })
  const record = (
    action: AuditRecord['action'],
    { server, principal, label }: Account,
    message: string,
    by = principal,
  ): void => {
    logger.info({ component: 'login', action, server, principal, by }, message)
    const detail = by === principal ? { label } : { label, user: principal }
    audit?.record({ action, principal: by, server, detail })?.catch(() => undefined)
  }
  return {
    connected: (account) => record('server-connected', account, 'a user has logged in at a server'),
    disconnected: (account, by) =>
      record('server-disconnected', account, 'a login at a server was ended', by),
    replaced(account, outcome) {
      const { server } = account
      replacements.inc({ server, outcome })
      if (outcome === 'refused') {
        record('server-login-over', account, 'a login at a server is over: its user has to log in')
      } else if (outcome === 'failed') {
        const fields = { component: 'login', action: 'refresh', server }
        logger.warn(fields, 'a token could not be replaced; it is tried again')
      }
    },
  }
}
