import { setting, values } from './settings.ts'

const METHODS = ['none', 'keys', 'oidc', 'local'] as const

/** The methods by which clients authenticate. */
export const authMethods = setting({
  env: 'AUTH',
  schema: values.list.superRefine((methods, context) => {
    const unknown = methods.filter((each) => !METHODS.some((method) => method === each))
    const message =
      unknown.length > 0
        ? `${unknown.join(', ')}: must be ${METHODS.join(', ')}`
        : methods.includes('none') && methods.length > 1
          ? 'none goes with no other method'
          : undefined
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  }),
  default: 'none',
  describe:
    'Ways in which clients authenticate, by commas: keys (API keys of `npm run keys`), oidc (bearer tokens of OIDC_ISSUER, and logins of browsers there with OIDC_CLIENT_ID), local (accounts of this host, which clients log in to by browser). none: not at all, only on loopback.',
})

export const publicUrlSetting = setting({
  env: 'PUBLIC_URL',
  schema: values.url
    .refine((url) => new URL(url).origin === url, 'must be scheme://host[:port] and nothing more')
    .optional(),
  describe:
    'Address by which clients reach the gateways, as https://mcp.example.com; tokens must be issued for it. Default: http://HOST:PORT.',
})
