import { matchesParts } from './wildcard.ts'

/** The server and the URI of a resource, which identify it, since two servers may have the same URI. */
export interface ResourceIdentity {
  readonly server: string
  readonly uri: string
}

export interface ResourceLists {
  readonly name: string
  /** The resources by URI. */
  readonly resources: ReadonlyMap<string, unknown>
  /** The resource templates by template. */
  readonly resourceTemplates: ReadonlyMap<string, unknown>
  /** Whether the server declares resources, even if it lists none. */
  readonly hasResources?: boolean
}

/**
 * A qualified URI, which names the server: `mcp://{server}/{encoded uri}`. Hosts of MCP apps accept only pages with the
 * scheme `ui`, so their URIs are `ui://{server}/{encoded uri}`.
 */
const QUALIFIED = /^(?:mcp:\/\/([A-Za-z0-9_-]+)\/(.+)|ui:\/\/([A-Za-z0-9_-]+)\/(ui(?::|%3A).+))$/

/**
 * The servers that may have a resource: those that list it, otherwise those with the narrowest matching template,
 * otherwise the server that a URI in the form `{server}.{uri}` names, otherwise all with resources. With several
 * servers the URI is ambiguous.
 */
export function findResource(
  uri: string,
  servers: readonly ResourceLists[],
): readonly ResourceIdentity[] {
  const qualified = readQualified(uri)
  if (qualified !== undefined && servers.some(({ name }) => name === qualified.server)) {
    const decoded = decode(qualified.encoded)
    return decoded === undefined ? [] : [{ server: qualified.server, uri: decoded }]
  }
  const find = (test: (lists: ResourceLists) => boolean): ResourceIdentity[] =>
    servers.filter(test).map(({ name }) => ({ server: name, uri }))
  const listing = find(({ resources }) => resources.has(uri))
  if (listing.length > 0) return listing
  const matching = servers.flatMap(({ name, resourceTemplates }) => {
    const literals = [...resourceTemplates.keys()].flatMap((template) => literalOf(template, uri))
    return literals.length === 0 ? [] : [{ name, literal: Math.max(...literals) }]
  })
  // A template such as `{+all}` must not take the reads that another server's template means.
  const narrowest = Math.max(...matching.map(({ literal }) => literal))
  if (matching.length > 0) {
    return matching.flatMap(({ name, literal }) =>
      literal === narrowest ? [{ server: name, uri }] : [],
    )
  }
  // Names of servers have no dots, so at most one matches.
  const dotted = servers.find(({ name }) => uri.startsWith(`${name}.`))
  if (dotted !== undefined) return [{ server: dotted.name, uri: uri.slice(dotted.name.length + 1) }]
  return find(
    ({ resources, resourceTemplates, hasResources = false }) =>
      hasResources || resources.size > 0 || resourceTemplates.size > 0,
  )
}

/** The qualified form of a URI. */
export function qualifyUri(server: string, uri: string): string {
  return qualify(server, uri, encodeURIComponent(uri))
}

/** The qualified form of a template. It is not encoded, since encoded values would be decoded twice. */
export function qualifyTemplate(server: string, template: string): string {
  return qualify(server, template, template)
}

function qualify(server: string, uri: string, written: string): string {
  return `${uri.startsWith('ui:') ? 'ui' : 'mcp'}://${server}/${written}`
}

function readQualified(uri: string): { server: string; encoded: string } | undefined {
  const [, server, encoded, uiServer = server, uiEncoded = encoded] = QUALIFIED.exec(uri) ?? []
  if (uiServer === undefined || uiEncoded === undefined) return undefined
  return { server: uiServer, encoded: uiEncoded }
}

/**
 * The number of literal characters of a template from which a URI may come; none for another template. Each
 * `{expression}` matches anything.
 */
function literalOf(template: string, uri: string): number[] {
  const parts = template.split(/\{[^{}]*\}/)
  return matchesParts(parts, uri) ? [parts.reduce((sum, { length }) => sum + length, 0)] : []
}

/** Decodes a URI. A URI with a colon comes from a template, and is not encoded. */
function decode(text: string): string | undefined {
  if (text.includes(':')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
