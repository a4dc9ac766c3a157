import { ownValue } from '@mcp-host/contracts'
import type { Interaction, Provider } from 'oidc-provider'
import type { Login } from '../session/login-sessions.ts'
import type { ReturnTarget } from '../login/login-routes.ts'
import { describeRedirect } from './redirect-address.ts'

/** The path of interactions, before their id. */
export const INTERACTION_PATH = '/auth/interaction/'

/** The client of an authorization, as its user sees it. */
export interface ClientTarget extends ReturnTarget {
  /** The host name in the client's id, if the id is a URL. */
  readonly clientHost: string | undefined
  /** The target to which the browser is sent back, in words. */
  readonly redirect: string
}

/** A parameter of the request of the client; empty where it is missing. */
export function parameterOf({ params }: Pick<Interaction, 'params'>, name: string): string {
  const value = ownValue(params, name)
  return typeof value === 'string' ? value : ''
}

export async function targetOf(
  provider: Provider,
  interaction: Interaction,
): Promise<ClientTarget> {
  const id = parameterOf(interaction, 'client_id')
  const client = await provider.Client.find(id)
  const url = URL.parse(
    parameterOf(interaction, 'redirect_uri') || (client?.redirectUris?.[0] ?? ''),
  )
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  const clientHost = URL.parse(id)?.host
  return {
    client: client?.clientName ?? clientHost ?? 'a program without a name',
    clientHost,
    redirect: url === null ? '' : describeRedirect(url),
    // A content security policy cannot have IPv6 addresses.
    formTargets:
      url === null ? [] : [isHttp && !url.host.startsWith('[') ? url.origin : url.protocol],
  }
}

/** The client of the interaction at a path; `undefined` for other paths. */
export async function describeInteraction(
  provider: Provider,
  path: string,
): Promise<ReturnTarget | undefined> {
  if (!path.startsWith(INTERACTION_PATH)) return undefined
  const interaction = await provider.Interaction.find(path.slice(INTERACTION_PATH.length))
  return interaction === undefined ? undefined : targetOf(provider, interaction)
}

/** Whether a login is new enough: clients may demand another one. */
export function isFresh({ prompt, iat }: Interaction, { loggedInAt }: Login): boolean {
  const isDemanded = prompt.reasons.some((each) => each === 'login_prompt' || each === 'max_age')
  return !isDemanded || loggedInAt >= iat * 1_000
}

export function toLogin({ uid }: Interaction): string {
  return `/login?return=${encodeURIComponent(INTERACTION_PATH + uid)}`
}

/** The path that begins the client's authorization again, such as for another account. */
export function authorizeAgain({ params }: Interaction): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) {
    for (const each of [value].flat()) if (typeof each === 'string') query.append(name, each)
  }
  return `/auth/authorize?${query.toString()}`
}
