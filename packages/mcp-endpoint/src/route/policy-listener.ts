import { POLICY_METHOD } from '@mcp-host/contracts'
import type { Caller } from '@mcp-host/contracts'
import type { MergedListing } from '../listing/merged-listing.ts'
import type { AccessPolicy } from './access-policy.ts'
import type { ReplyListener, Servers } from '../servers.ts'

export interface PolicyListenerDeps {
  readonly servers: Pick<Servers, 'answer'>
  readonly policy?: Pick<AccessPolicy, 'checkCall' | 'isToolHidden'> | undefined
  readonly listener: ReplyListener
}

/** The listener of a request of a session that also answers whether the policy still lets an accepted call run. */
export function policyListener(
  { servers, policy, listener }: PolicyListenerDeps,
  about: {
    readonly principal: Caller
    readonly server: string
    readonly client: string
    readonly listing: MergedListing
  },
): ReplyListener {
  const { principal, server, client, listing } = about
  const mayRun = (call: { readonly name: string; readonly arguments?: unknown }): boolean => {
    const { name } = call
    const annotations = listing.annotationsOf(server, name)
    if (policy?.isToolHidden(principal, server, { name, annotations }) === true) return false
    try {
      const route = { place: { server, name }, params: { ...call }, isReadOnly: false }
      policy?.checkCall(principal, route, listing)
      return true
    } catch {
      // The call is denied, which the policy reports.
      return false
    }
  }
  return {
    onNotice: (...notice) => listener.onNotice(...notice),
    onResumable: (kept) => listener.onResumable(kept),
    onAsk(ask, method, params, number) {
      if (method !== POLICY_METHOD) return listener.onAsk(ask, method, params, number)
      servers.answer(ask, client, { result: { isAllowed: mayRun(JSON.parse(params)) } })
    },
  }
}
