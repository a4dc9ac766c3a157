import type { Offer } from './offer.ts'
import type { Passage } from './passage.ts'
import { noResource } from './passage.ts'
import { renameLinks } from './result-links.ts'
import { RpcCode, RpcFault } from './rpc.ts'
import type { Passed, PassedRequest, Upstream } from './upstream.ts'
import { MOVED } from './upstream.ts'

type About = Omit<PassedRequest, 'params' | 'isReadOnly' | 'isOutputWrapped' | 'isOwn'>

/** How servers say that they do not have a resource. */
const UNKNOWN = new Set<number | undefined>([RpcCode.resourceNotFound, RpcCode.invalidParams])

export interface PassOnDeps {
  readonly upstream: Pick<Upstream, 'pass'>
  readonly offer: Offer
}

/** Passes a request on to its server. No async function: most requests come by here. Throws as `Upstream.pass`. */
export function passOn(deps: PassOnDeps, passage: Passage, about: About): Promise<Passed> {
  const { upstream, offer } = deps
  const { place, params, isReadOnly, isOutputWrapped, others = [] } = passage
  if (others.length > 0) return passInTurn(deps, passage, about)
  const { server } = place
  const isOwn = offer.isOwn(server)
  const passed = upstream.pass(server, { ...about, params, isReadOnly, isOutputWrapped, isOwn })
  return offer.offerings.length === 1
    ? passed
    : passed.then((each) => withLinks(each, offer, server))
}

/** A result with links has them as lists have them here. */
export function withLinks(passed: Passed, { resourceNames }: Offer, server: string): Passed {
  if (passed.hasLinks !== true) return passed
  const json = renameLinks(passed.json, (uri) => resourceNames.nameOf(server, uri))
  return { ...passed, json }
}

/** Asks one server after another for a resource that any of them may have. */
async function passInTurn(deps: PassOnDeps, passage: Passage, about: About): Promise<Passed> {
  const { place, others = [] } = passage
  let failure: Passed | RpcFault | undefined
  for (const each of [place, ...others]) {
    try {
      // Its caller could only come back to one of them.
      const alone = { ...about, isResumable: false }
      const passed = await passOn(deps, { ...passage, place: each, others: [] }, alone)
      if (passed.type === 'result') return passed
      if (!UNKNOWN.has(passed.code)) failure ??= passed
    } catch (error) {
      const isAway = error instanceof RpcFault && error !== MOVED
      if (!isAway || about.signal?.aborted === true) throw error
      failure ??= error
    }
  }
  if (failure === undefined) throw noResource(place.name, about.era)
  if (failure instanceof RpcFault) throw failure
  return failure
}
