import { ownValue } from '@mcp-host/contracts'
import { isAllowed } from '@mcp-host/mcp'
import { listedNames } from './listed-names.ts'
import type { MergedListingOptions } from './merged-listing.ts'
import type { ServerListing, ItemAddress } from './server-listing.ts'
import { MergedListing } from './merged-listing.ts'

/** The part of a server that is in a bundle. */
export interface BundledServer {
  /** Patterns of its tools' names, with `*`. Default: all. */
  readonly allow?: readonly string[] | undefined
  readonly deny?: readonly string[] | undefined
  /** New names of tools and prompts, by their original names. */
  readonly rename?: Readonly<Record<string, string>> | undefined
  /** New descriptions of tools, by their original names. */
  readonly describe?: Readonly<Record<string, string>> | undefined
  readonly prompts?: boolean | undefined
  readonly resources?: boolean | undefined
}

/** Some servers, or parts of them, listed together under a name. */
export interface Bundle {
  /** Instructions that precede those of the servers. */
  readonly instructions?: string | undefined
  /** When names get the prefix `server__`: always, only when several servers have the same name, or never. */
  readonly names?: 'always' | 'on-collision' | 'never' | undefined
  /** The servers by name. Default: all servers with all their items. */
  readonly servers?: Readonly<Record<string, BundledServer>> | undefined
  /** Whether tools are found by a search instead of listed. */
  readonly toolSearch?: boolean | undefined
}

/** Builds the listing of a bundle. `join`: makes the name of an item unique among all configured servers. */
export function bundleListing(
  bundle: Bundle,
  serverListings: readonly ServerListing[],
  join: (place: ItemAddress) => string = listedNames(serverListings.map(({ server }) => server)),
  absent?: MergedListingOptions['absent'],
): MergedListing {
  const { names = 'always', servers, instructions, toolSearch = false } = bundle
  const chosen = serverListings.flatMap((serverListing) => {
    const wanted = servers === undefined ? {} : ownValue(servers, serverListing.server)
    return wanted === undefined ? [] : [partOf(serverListing, wanted)]
  })
  const ownName = ({ server, name }: ItemAddress): string =>
    ownValue(ownValue(servers ?? {}, server)?.rename ?? {}, name) ?? name
  const taken = { tools: countNames('tools'), prompts: countNames('prompts') }

  function countNames(list: 'tools' | 'prompts'): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const { server, [list]: items } of chosen) {
      for (const { name } of items) {
        const own = ownName({ server, name })
        counts.set(own, (counts.get(own) ?? 0) + 1)
      }
    }
    return counts
  }

  function nameOf(place: ItemAddress, list: 'tools' | 'prompts'): string {
    const own = ownName(place)
    const isRenamed = own !== place.name
    const isTaken = (taken[list].get(own) ?? 0) > 1
    const isPrefixed = names === 'always' ? !isRenamed : names === 'on-collision' && isTaken
    return isPrefixed ? join({ server: place.server, name: own }) : own
  }

  return new MergedListing(chosen, nameOf, {
    instructions,
    toolSearch,
    ...(absent && { absent }),
    remake: (replace, seen) => {
      const replaced = serverListings.flatMap((each) => replace(each) ?? [])
      return bundleListing(bundle, replaced, join, seen)
    },
  })
}

function partOf(serverListing: ServerListing, wanted: BundledServer): ServerListing {
  const { allow, deny, describe = {}, prompts = true, resources = true } = wanted
  const filter = { ...(allow && { allow: [...allow] }), ...(deny && { deny: [...deny] }) }
  return {
    ...serverListing,
    tools: serverListing.tools.flatMap((tool) => {
      if (!isAllowed(filter, tool.name)) return []
      const description = ownValue(describe, tool.name)
      return [description === undefined ? tool : { ...tool, description }]
    }),
    ...(prompts ? {} : { prompts: [] }),
    ...(resources
      ? {}
      : {
          hidesResources: true,
          resources: [],
          resourceTemplates: [],
          capabilities: { ...serverListing.capabilities, resources: undefined },
        }),
    // Unlisted items do not affect the caching hint.
    caching: {
      ...serverListing.caching,
      ...(prompts ? {} : { prompts: undefined }),
      ...(resources ? {} : { resources: undefined, resourceTemplates: undefined }),
    },
  }
}
