import { matchesParts } from './wildcard.ts'

/** A resource is known by the pair: two servers may have the same URI. */
export interface ResourceIdentity {
  readonly server: string
  readonly uri: string
}

export interface ResourceLists {
  readonly name: string
  /** By their URIs. */
  readonly resources: ReadonlyMap<string, unknown>
  /** By their templates. */
  readonly resourceTemplates: ReadonlyMap<string, unknown>
}

/** The form that names the server as well: `mcp://{server}/{encoded uri}`. */
const QUALIFIED = /^mcp:\/\/([A-Za-z0-9_-]+)\/(.+)$/

/**
 * The servers that may have a resource, best guess first: those that list it, else those with a
 * template that it fits, else all that have resources. More than one means that the URI alone does
 * not say which.
 */
export function findResource(
  uri: string,
  servers: readonly ResourceLists[],
): readonly ResourceIdentity[] {
  const [, named, encoded] = QUALIFIED.exec(uri) ?? []
  if (encoded !== undefined && servers.some(({ name }) => name === named)) {
    const decoded = decode(encoded)
    return named === undefined || decoded === undefined ? [] : [{ server: named, uri: decoded }]
  }
  const having = (test: (lists: ResourceLists) => boolean): ResourceIdentity[] =>
    servers.filter(test).map(({ name }) => ({ server: name, uri }))
  const listing = having(({ resources }) => resources.has(uri))
  if (listing.length > 0) return listing
  const fitting = having(({ resourceTemplates }) =>
    [...resourceTemplates.keys()].some((template) => fits(template, uri)),
  )
  if (fitting.length > 0) return fitting
  return having((lists) => lists.resources.size > 0 || lists.resourceTemplates.size > 0)
}

/** Each `{expression}` may stand for anything: the server decides, and this is a guess at which one to ask. */
function fits(template: string, uri: string): boolean {
  return matchesParts(template.split(/\{[^{}]*\}/), uri)
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
