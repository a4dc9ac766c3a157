import { matchesParts } from '../names/wildcard.ts'

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
  /** Whether it says that it has resources, also when it lists none. */
  readonly hasResources?: boolean
}

/**
 * The form that names the server as well: `mcp://{server}/{encoded uri}`. Hosts of MCP apps take pages with the scheme
 * `ui` alone, so those are `ui://{server}/{encoded uri}`.
 */
const QUALIFIED = /^(?:mcp:\/\/([A-Za-z0-9_-]+)\/(.+)|ui:\/\/([A-Za-z0-9_-]+)\/(ui(?::|%3A).+))$/

/**
 * The servers that may have a resource, best guess first: those that list it, else those with a
 * template that it fits, else the one that it begins with as `{server}.{uri}`, else all that have
 * resources. More than one means that the URI alone does not say which.
 */
export function findResource(
  uri: string,
  servers: readonly ResourceLists[],
): readonly ResourceIdentity[] {
  const asked = readQualified(uri)
  if (asked !== undefined && servers.some(({ name }) => name === asked.server)) {
    const { server, encoded } = asked
    const decoded = decode(encoded)
    return decoded === undefined ? [] : [{ server, uri: decoded }]
  }
  const having = (test: (lists: ResourceLists) => boolean): ResourceIdentity[] =>
    servers.filter(test).map(({ name }) => ({ server: name, uri }))
  const listing = having(({ resources }) => resources.has(uri))
  if (listing.length > 0) return listing
  const fitting = having(({ resourceTemplates }) =>
    [...resourceTemplates.keys()].some((template) => fits(template, uri)),
  )
  if (fitting.length > 0) return fitting
  // Names of servers have no dots, so at most one fits.
  const dotted = servers.find(({ name }) => uri.startsWith(`${name}.`))
  if (dotted !== undefined) return [{ server: dotted.name, uri: uri.slice(dotted.name.length + 1) }]
  return having(
    ({ resources, resourceTemplates, hasResources = false }) =>
      hasResources || resources.size > 0 || resourceTemplates.size > 0,
  )
}

/** A URI in the form that names its server as well. */
export function qualifyUri(server: string, uri: string): string {
  return qualified(server, uri, encodeURIComponent(uri))
}

/** The qualified name of a template. It stays readable: an encoded value would be decoded once too often. */
export function qualifyTemplate(server: string, template: string): string {
  return qualified(server, template, template)
}

function qualified(server: string, uri: string, written: string): string {
  return `${uri.startsWith('ui:') ? 'ui' : 'mcp'}://${server}/${written}`
}

function readQualified(uri: string): { server: string; encoded: string } | undefined {
  const [, server, encoded, uiServer = server, uiEncoded = encoded] = QUALIFIED.exec(uri) ?? []
  if (uiServer === undefined || uiEncoded === undefined) return undefined
  return { server: uiServer, encoded: uiEncoded }
}

/** Each `{expression}` may stand for anything: the server decides, and this is a guess at which one to ask. */
function fits(template: string, uri: string): boolean {
  return matchesParts(template.split(/\{[^{}]*\}/), uri)
}

/** A name with a colon was made of a template, and is not encoded. */
function decode(text: string): string | undefined {
  if (text.includes(':')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
