import type { ResourceLists } from '@mcp-host/mcp'
import { findResource, qualifyTemplate, qualifyUri } from '@mcp-host/mcp'
import type { ServerListing, ItemAddress } from './server-listing.ts'

/** Web addresses, which clients open themselves. */
const WEB = /^https?:/i

/** The names of resources in a listing of several servers. An ambiguous URI gets its server as a prefix. */
export class ResourceNames {
  readonly #servers: readonly ResourceLists[]
  readonly #canRead: ReadonlyMap<string, ServerListing['canRead']>

  constructor(serverListings: readonly ServerListing[]) {
    const reachable = serverListings.filter(({ hidesResources }) => hidesResources !== true)
    this.#canRead = new Map(reachable.map(({ server, canRead }) => [server, canRead]))
    this.#servers = reachable.map(({ server, capabilities, resources, resourceTemplates }) => ({
      name: server,
      resources: new Map(resources.map((each) => [each.uri, each])),
      resourceTemplates: new Map(resourceTemplates.map((each) => [each.uriTemplate, each])),
      hasResources: capabilities?.['resources'] !== undefined,
    }))
  }

  /** The servers that may have a resource: several when its URI is ambiguous. */
  find(uri: string): readonly ItemAddress[] {
    return findResource(uri, this.#servers).flatMap(({ server, uri: name }) => {
      const canRead = this.#canRead.get(server)
      return canRead === undefined || canRead(name) ? [{ server, name }] : []
    })
  }

  /** Whether servers list a resource by its own URI. */
  isListed(uri: string): boolean {
    return this.#servers.some(({ resources }) => resources.has(uri))
  }

  /** The servers that have a template. */
  findTemplate(uriTemplate: string): readonly ItemAddress[] {
    const having = ({ server, name }: ItemAddress): boolean =>
      this.#servers.some((each) => each.name === server && each.resourceTemplates.has(name))
    const named = this.#servers.map(({ name: server }) => ({ server, name: uriTemplate }))
    const found = named.filter(having)
    return found.length > 0 ? found : this.find(uriTemplate).filter(having)
  }

  /** The name of a server's resource in this listing. */
  nameOf(server: string, uri: string): string {
    const [first, ...rest] = this.#servers
    if (first?.name === server && rest.length === 0) return uri
    const [found, ...others] = this.find(uri)
    const isClear = others.length === 0 && found?.server === server && found.name === uri
    if (isClear || (WEB.test(uri) && !this.isListed(uri))) return uri
    return qualifyUri(server, uri)
  }

  /** The name of a server's resource template in this listing. */
  templateNameOf(server: string, uriTemplate: string): string {
    const isShared = this.findTemplate(uriTemplate).length > 1
    return isShared ? qualifyTemplate(server, uriTemplate) : uriTemplate
  }
}
