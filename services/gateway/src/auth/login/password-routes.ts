import type { IncomingMessage } from 'node:http'
import type { AccountRecord, Accounts } from '@mcp-host/auth'
import { AccountName, isPassword, principalOfAccount } from '@mcp-host/auth'
import { BusError } from '@mcp-host/contracts'
import type { FastifyInstance } from 'fastify'
import type { GatewayAudit } from '../../gateway-audit.ts'
import type { LoginSessions } from '../session/login-sessions.ts'
import type { Attempts } from './attempts.ts'
import type { LoginForm } from './login-routes.ts'
import { ownPath } from './own-path.ts'
import { field } from './pages-scope.ts'

/** One text for all causes, so that it does not tell which accounts exist. */
const WRONG = 'The name or the password is wrong.'

export interface PasswordRoutesDeps {
  readonly accounts: Accounts
  readonly logins: LoginSessions
  readonly attempts: Attempts
  readonly addressOf: (request: IncomingMessage) => string
  readonly audit: Pick<GatewayAudit, 'loggedIn' | 'credentialRefused'>
  readonly sendForm: LoginForm
  /** The path to which a login without another target leads. */
  readonly home: string
}

/** The route on which browsers log in with the password of an account. */
export function addPasswordRoutes(app: FastifyInstance, deps: PasswordRoutesDeps): void {
  const { accounts, logins, attempts, addressOf, audit, sendForm, home } = deps

  app.post('/login', async (request, reply) => {
    const { body } = request
    const name = AccountName.safeParse(field(body, 'name')).data ?? ''
    const returnTo = ownPath(field(body, 'return'))
    const address = addressOf(request.raw)
    const answer = (fault: string, status: number) =>
      sendForm(reply.code(status), { name, returnTo, fault })
    let account: AccountRecord | undefined
    let isRight: boolean
    let giveBack: (() => Promise<void>) | undefined
    try {
      giveBack = await attempts.begin(address, name)
      account = name === '' ? undefined : await accounts.read(name)
      isRight = await isPassword(field(body, 'password'), account?.password)
    } catch (error) {
      const { code, message } = BusError.from(error)
      // The password was not checked. Without the store the count stays until its window ends, and the fault is told.
      await giveBack?.().catch(() => undefined)
      if (code !== 'exhausted') throw error
      if (giveBack === undefined) {
        // As below: only names of accounts are logged.
        const about = accounts.find(name) === undefined ? 'unknown account' : `account ${name}`
        audit.credentialRefused(address, '/login', `${about}: locked after wrong passwords`)
      }
      reply.header('retry-after', '60')
      return answer(message, 429)
    }
    if (account === undefined || account.isDisabled || !isRight) {
      // The name of an unknown account is not logged: a user may have typed the password there.
      const about = account === undefined ? 'unknown account' : `account ${account.name}`
      audit.credentialRefused(address, '/login', `${about}: wrong password or disabled`)
      return answer(WRONG, 401)
    }
    await giveBack()
    audit.loggedIn(principalOfAccount(account, { method: 'session' }))
    const { validFrom } = account
    reply.header('set-cookie', await logins.begin({ account: name, validFrom }))
    return reply.redirect(returnTo ?? home, 303)
  })
}
