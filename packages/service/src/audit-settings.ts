import { ARGUMENT_MODES } from '@mcp-host/audit'
import { z } from 'zod'
import { authMethods } from './auth-methods.ts'
import type { Config } from './settings.ts'
import { setting, values } from './settings.ts'

/** Settings of the audit log, for every service that writes to it. */
export const auditSettings = {
  auth: authMethods,
  audit: setting({
    env: 'AUDIT',
    schema: z
      .enum(['off', 'async', 'required'], { error: 'must be one of off, async, required' })
      .optional(),
    describe:
      'Audit log of tool calls. `async`: entries are written in the background. `required`: a call whose entry cannot be stored does not run. Default: `off` while clients need not authenticate, else `async`; with `npm start` always `async`.',
  }),
  auditArguments: setting({
    env: 'AUDIT_ARGUMENTS',
    schema: z.enum(ARGUMENT_MODES, { error: `must be one of ${ARGUMENT_MODES.join(', ')}` }),
    default: 'full',
    describe:
      'What the audit log has of the arguments of a call. `full`: arguments of up to 16 KB, redacted, and their hash; `hash`: the hash alone; `none`: nothing.',
  }),
  auditRedact: setting({
    env: 'AUDIT_REDACT',
    schema: values.list,
    default:
      'password,passwd,passphrase,secret,clientSecret,token,accessToken,refreshToken,idToken,apiKey,privateKey,authorization,cookie,credentials',
    describe:
      'Names of arguments that are redacted in the audit log, at any depth, by commas. Case, `-` and `_` do not count.',
  }),
  auditRetentionDays: setting({
    env: 'AUDIT_RETENTION_DAYS',
    schema: values.integer(1, 36_500),
    default: '365',
    describe: 'How long entries of the audit log are kept, in days. The same for all services.',
  }),
  auditCheckpoints: setting({
    env: 'AUDIT_CHECKPOINTS',
    schema: values.text.optional(),
    describe:
      'Folder where checkpoints of the audit log are kept beside the log of the service, in one file for each service.',
  }),
}

/** The mode of the audit log. By default it is on when clients authenticate; `npm start` sets its own default. */
export function auditMode({
  audit,
  auth,
}: Pick<Config<typeof auditSettings>, 'audit' | 'auth'>): 'off' | 'async' | 'required' {
  return audit ?? (auth.includes('none') ? 'off' : 'async')
}
