import type {
  AuthorizationServer,
  ProtectedServer,
  ResourceMetadata,
} from './authorization-server.ts'
import { findAuthorizationServer } from './authorization-server.ts'
import type { CompleteLogin, LoginClient, PendingLogin } from './login.ts'
import { beginLogin, clientAt } from './login.ts'

/** What the configuration of a server says about logins there. */
export interface LoginWish {
  readonly client: LoginClient
  /** The URL of the authorization server. Default: the one that the server names. */
  readonly issuer?: string | undefined
  /** The scopes to ask for, separated by spaces. Default: those that the server asks for. */
  readonly scope?: string | undefined
  /** Does not name the server to the authorization server (RFC 8707), which some refuse. */
  readonly omitResource?: boolean | undefined
  /** Further parameters of the login page. */
  readonly parameters?: Readonly<Record<string, string>> | undefined
}

export interface PreparedLogin {
  readonly at: AuthorizationServer
  /** The address for the browser of the user. */
  readonly url: URL
  readonly pending: PendingLogin
}

/** Finds the authorization server of a server, and begins a login there. `known`: an earlier login at the server. */
export async function prepareLogin(
  server: ProtectedServer,
  about: ResourceMetadata | undefined,
  { client: me, issuer, scope: configured, omitResource, parameters }: LoginWish,
  known?: CompleteLogin,
): Promise<PreparedLogin> {
  const { scope: demanded, isForMore = false } = server.challenge
  const named = issuer === undefined ? about?.authorization_servers : [issuer]
  const at = await findAuthorizationServer(server, named, known?.issuer)
  const base = isForMore ? known?.scope : configured
  const offered = base === undefined ? about?.scopes_supported?.join(' ') : undefined
  const scope = union(base, demanded ?? offered)
  const resource = omitResource === true ? undefined : about?.resource
  const isUsable = known !== undefined && isSameIssuer(known.issuer, at.issuer)
  const client =
    isUsable && me.registered === undefined && me.registrations === undefined
      ? known.client
      : await clientAt(at, me, server.fetchFn)
  return { at, ...(await beginLogin(at, client, me.redirectUrl, { scope, resource, parameters })) }
}

export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '')
}

/** All scopes of two lists that are separated by spaces. */
function union(...lists: readonly (string | undefined)[]): string | undefined {
  const scopes = new Set(
    lists.flatMap((list) => list?.split(' ') ?? []).filter((each) => each !== ''),
  )
  return scopes.size === 0 ? undefined : [...scopes].join(' ')
}
