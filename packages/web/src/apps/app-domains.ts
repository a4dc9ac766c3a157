import { objectOf } from '../state/object-of.ts'

/** Domains of each kind that the host lets an app reach. */
const MAX_DOMAINS = 20

/** The host has the same rule, and refuses others. */
const ORIGIN =
  /^(?<scheme>https|wss):\/\/(?<domain>(?:\*\.)?(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,63})(?::\d{1,5})?$/

/** The other hosts that an app asks to reach. */
export interface AppDomains {
  /** Origins to which it sends requests. */
  readonly connect: readonly string[]
  /** Origins from which it loads scripts, styles, pictures and fonts. */
  readonly resource: readonly string[]
}

/**
 * The domains in `_meta.ui` of a page, without those that no app may reach: this host, machines without a domain,
 * everything.
 */
export function readDomains(ui: unknown, ownDomain: string): AppDomains {
  const { connectDomains, resourceDomains } = objectOf(objectOf(ui)['csp'])
  return {
    connect: originsIn(connectDomains, ownDomain),
    resource: originsIn(resourceDomains, ownDomain).filter((each) => each.startsWith('https:')),
  }
}

/** The names of the domains, each once. */
export function domainNames({ connect, resource }: AppDomains): string[] {
  const names = [...connect, ...resource].map((each) => each.replace(/^\w+:\/\//, ''))
  return Array.from(new Set(names))
}

/** The address of the sandbox in which an app reaches these domains. */
export function sandboxUrl({ connect, resource }: AppDomains): string {
  const query = new URLSearchParams([
    ...connect.map((each): [string, string] => ['connect', each]),
    ...resource.map((each): [string, string] => ['resource', each]),
  ])
  return query.size === 0 ? '/app-sandbox' : `/app-sandbox?${query.toString()}`
}

function originsIn(list: unknown, ownDomain: string): string[] {
  if (!Array.isArray(list)) return []
  const origins = list.flatMap((each: unknown) => {
    const origin = String(each).toLowerCase().replace(/\/$/, '')
    const domain = ORIGIN.exec(origin)?.groups?.['domain']
    return domain === undefined || covers(domain, ownDomain) ? [] : [origin]
  })
  return Array.from(new Set(origins)).slice(0, MAX_DOMAINS)
}

function covers(domain: string, other: string): boolean {
  return domain.startsWith('*.') ? other.endsWith(domain.slice(1)) : domain === other
}
