import type { FaultList } from '../../document/fault-list.ts'
import { fieldPath, membersOf } from '../../document/json-tree.ts'
import { nodeOf } from '../../document/make-nodes.ts'
import { Draft, memberOf, refuse, valueOf, type Written } from './draft.ts'
import type { Place } from './place-server.ts'
import { resolveSecrets } from './resolve-secrets.ts'

/** The names of fields here, by those of `auth_config` and `master_oauth`. */
const NAMES: Readonly<Record<string, string>> = {
  issuer: 'issuer',
  authorization_endpoint: 'authorizationEndpoint',
  token_endpoint: 'tokenEndpoint',
  client_id: 'clientId',
  client_secret: 'clientSecret',
  audience: 'audience',
}

/** Fields that the `auth_config` of a provider may leave out. The issuer of Google is not at its token endpoint. */
const PROVIDERS: ReadonlyMap<unknown, Readonly<Record<string, string>>> = new Map([
  [
    'github',
    {
      authorization_endpoint: 'https://github.com/login/oauth/authorize',
      token_endpoint: 'https://github.com/login/oauth/access_token',
    },
  ],
  [
    'google',
    {
      issuer: 'https://accounts.google.com',
      authorization_endpoint: 'https://accounts.google.com/o/oauth2/v2/auth',
      token_endpoint: 'https://oauth2.googleapis.com/token',
    },
  ],
])

interface Strategy {
  /** The type of `auth` in this host. */
  readonly type: string
  readonly required: readonly string[]
  readonly optional: readonly string[]
  /** What a user may do for a program. */
  readonly remedy: string
}

const USER_FIELDS = ['authorization_endpoint', 'token_endpoint', 'client_id']
const WITHOUT_TOKEN = 'Write "bypass_auth", or the "config.port" at which the server runs.'
/** Each user logs in by a page, or brings the tokens. */
const LOGINS: Strategy = {
  type: 'oauth',
  required: USER_FIELDS,
  optional: ['issuer', 'client_secret'],
  remedy:
    'Write this server in the form of this host, with "auth" and in it the "variable" in which the program reads the token.',
}
const STRATEGIES: ReadonlyMap<unknown, Strategy> = new Map([
  ['proxy_oauth', LOGINS],
  ['delegate_oauth', LOGINS],
  [
    'master_oauth',
    {
      type: 'token-exchange',
      required: ['token_endpoint', 'client_id'],
      optional: ['issuer', 'client_secret', 'audience'],
      remedy: WITHOUT_TOKEN,
    },
  ],
])

/** Sets the `auth` of a server. `master`: the object `master_oauth`. */
export function convertAuth(
  draft: Draft,
  place: Place,
  master: Written | undefined,
  faults: FaultList,
): void {
  const entry = draft.written
  const field = memberOf(entry, 'auth_strategy')
  const name = valueOf(field)
  const config = memberOf(entry, 'auth_config')
  if (name === 'bypass_auth' || name === 'master_oauth') warnUnused(config, name, faults)
  if (name === 'bypass_auth') return
  const strategy = STRATEGIES.get(name)
  if (field === undefined || strategy === undefined) {
    const at = field ?? { node: entry.node, path: fieldPath(entry.path, 'auth_strategy') }
    const message = field === undefined ? 'is missing' : 'is not a known strategy'
    const names = [...STRATEGIES.keys()].map((each) => `"${String(each)}"`).join(', ')
    return refuse(faults, at, message, `Write "bypass_auth", ${names}.`)
  }
  if (place === 'program') {
    return refuse(faults, field, 'sends a token, which a program does not get', strategy.remedy)
  }
  const source = name === 'master_oauth' ? master : config
  if (source?.node.type !== 'object') {
    const path = name === 'master_oauth' ? 'master_oauth' : fieldPath(entry.path, 'auth_config')
    const at = source ?? { node: field.node, path }
    const message = source === undefined ? 'is missing' : 'must be an object'
    return refuse(faults, at, message, `Write an object with ${strategy.required.join(', ')}.`)
  }
  const auth = toAuth(source, strategy, faults)
  if (auth !== undefined) draft.putObject('auth', auth)
  if (name !== 'master_oauth') warnUnknown(source, strategy, faults)
}

function toAuth(
  source: Written,
  { type, required, optional }: Strategy,
  faults: FaultList,
): Draft | undefined {
  const auth = new Draft(source)
  const countBefore = faults.reported
  auth.putText('type', type, source)
  const fields = new Map(
    [...required, ...optional].map((key) => [key, fieldOf(source, key, faults)] as const),
  )
  fields.set(
    'issuer',
    fields.get('issuer') ?? issuerOf(source, fields.get('token_endpoint'), faults),
  )
  for (const [key, field] of fields) {
    if (field !== undefined) auth.put(NAMES[key] ?? key, { ...field.node }, field.path)
    else if (required.includes(key)) {
      const at = { node: source.node, path: fieldPath(source.path, key) }
      refuse(faults, at, 'is missing', `Write "${key}".`)
    }
  }
  putScope(auth, source, faults)
  return faults.reported > countBefore ? undefined : auth
}

/** A field, or that of the provider. */
function fieldOf(source: Written, key: string, faults: FaultList): Written | undefined {
  const field = memberOf(source, key)
  if (field !== undefined) return resolveSecrets(field, faults)
  const provider = memberOf(source, 'provider')
  const preset = PROVIDERS.get(valueOf(provider))?.[key]
  if (provider === undefined || preset === undefined) return undefined
  return { node: nodeOf('string', provider.node, preset), path: provider.path }
}

function issuerOf(
  source: Written,
  endpoint: Written | undefined,
  faults: FaultList,
): Written | undefined {
  if (endpoint === undefined) return undefined
  const value = valueOf(endpoint)
  // The schema reports an endpoint that is no URL.
  if (typeof value !== 'string') return endpoint
  if (value.includes('${')) {
    const at = { node: source.node, path: fieldPath(source.path, 'issuer') }
    const remedy = 'Write the address of the authorization server, as "https://login.example.com".'
    refuse(faults, at, 'is missing, and does not follow from the variable in the endpoint', remedy)
    return undefined
  }
  const issuer = URL.canParse(value) ? new URL(value).origin : value
  if (memberOf(source, 'token_endpoint') !== undefined) {
    const message = `is missing, and is taken for ${issuer}, where the endpoint is`
    const remedy = 'Write the issuer that the authorization server publishes, if it is another one.'
    faults.tolerate(endpoint.node.offset, fieldPath(source.path, 'issuer'), message, remedy)
  }
  return { node: nodeOf('string', endpoint.node, issuer), path: endpoint.path }
}

function putScope(auth: Draft, source: Written, faults: FaultList): void {
  const scopes = memberOf(source, 'scopes')
  if (scopes === undefined) return
  const value = valueOf(resolveSecrets(scopes, faults))
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (!list.every((each) => typeof each === 'string')) {
    return refuse(faults, scopes, 'must be a list of texts', 'Write "scopes": ["read"].')
  }
  if (list.length > 0) auth.putText('scope', list.join(' '), scopes)
}

function warnUnused(config: Written | undefined, strategy: string, faults: FaultList): void {
  if (config === undefined) return
  const message = `has no meaning beside "${strategy}" and is ignored`
  faults.tolerate(config.node.offset, config.path, message, 'Remove it.')
}

function warnUnknown(source: Written, { required, optional }: Strategy, faults: FaultList): void {
  const known = [...required, ...optional, 'provider', 'scopes']
  for (const { key, offset } of membersOf(source.node)) {
    if (known.includes(key)) continue
    const path = fieldPath(source.path, key)
    faults.tolerate(offset, path, 'is not a known field and is ignored', 'Remove it.')
  }
}
