import { isObject, ownValue } from '@mcp-host/json'

/** A header of an HTTP request that repeats an argument, by the schema's `x-mcp-header`. */
export interface ParameterHeader {
  /** The property names from the root of the arguments. */
  readonly path: readonly string[]
  readonly name: string
}

export type ParameterHeaders =
  | { readonly kind: 'valid'; readonly headers: readonly ParameterHeader[] }
  | { readonly kind: 'invalid'; readonly reason: string }

type Schema = Readonly<Record<string, unknown>>

const KEY = 'x-mcp-header'
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean']
/** Keywords with named subschemas, besides `properties`. */
const NAMED = ['patternProperties', 'dependentSchemas', '$defs', 'definitions']
/** Keywords with a subschema, or a list of them. */
const NESTED = [
  'items',
  'prefixItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'propertyNames',
  'oneOf',
  'anyOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
]

/** The headers for arguments of a tool (revision 2026-07-28, Streamable HTTP). A tool with invalid ones must be hidden. */
export function parameterHeaders(inputSchema: Schema): ParameterHeaders {
  const headers: ParameterHeader[] = []
  const reason = findFault(inputSchema, [], true, headers)
  return reason === undefined ? { kind: 'valid', headers } : { kind: 'invalid', reason }
}

/** The headers of one call: null and absent arguments have none. */
export function headersFor(
  headers: readonly ParameterHeader[],
  args: Readonly<Record<string, unknown>>,
): Record<string, string> {
  return Object.fromEntries(
    headers.flatMap((header) => {
      const text = parameterText(header, args)
      return text === undefined ? [] : [[`Mcp-Param-${header.name}`, encodeHeader(text)]]
    }),
  )
}

/** The text of a header for one call before encoding; `undefined` without a value. */
export function parameterText(
  { path }: ParameterHeader,
  args: Readonly<Record<string, unknown>>,
): string | undefined {
  const value = path.reduce<unknown>(
    (at, step) => (isObject(at) ? ownValue(at, step) : undefined),
    args,
  )
  if (typeof value === 'string') return value
  return typeof value === 'boolean' || Number.isSafeInteger(value) ? String(value) : undefined
}

function findFault(
  node: unknown,
  path: readonly string[],
  isReachable: boolean,
  found: ParameterHeader[],
): string | undefined {
  if (Array.isArray(node)) {
    return firstFault(node, (item) => findFault(item, path, isReachable, found))
  }
  if (!isObject(node)) return undefined
  if (Object.hasOwn(node, KEY)) {
    const fault = declarationFault(node, path, isReachable, found)
    if (fault !== undefined) return `${path.join('.')}: ${KEY} ${fault}`
    found.push({ path, name: String(node[KEY]) })
  }
  return (
    firstFault(entriesOf(node['properties']), ([name, child]) =>
      findFault(child, [...path, name], isReachable, found),
    ) ??
    firstFault(NESTED, (key) => findFault(node[key], path, false, found)) ??
    firstFault(NAMED, (key) =>
      firstFault(entriesOf(node[key]), ([, child]) => findFault(child, path, false, found)),
    )
  )
}

function declarationFault(
  { [KEY]: name, type }: Schema,
  path: readonly string[],
  isReachable: boolean,
  found: readonly ParameterHeader[],
): string | undefined {
  if (!isReachable || path.length === 0)
    return 'must be on a property, not in a list, alternative or definition'
  if (typeof name !== 'string' || !TOKEN.test(name)) return 'is not the name of a header'
  if (!TYPES.includes(type)) return 'is on an argument that is no string, integer or boolean'
  const lower = name.toLowerCase()
  const isTaken = found.some((other) => other.name.toLowerCase() === lower)
  return isTaken ? `"${name}" is there twice` : undefined
}

function firstFault<Item>(
  items: Iterable<Item>,
  check: (item: Item) => string | undefined,
): string | undefined {
  for (const item of items) {
    const fault = check(item)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** Encodes a text for a header: in Base64 between two marks, unless the header can contain it unchanged. */
export function encodeHeader(text: string): string {
  const isPlain = /^[\t\x20-\x7e]+$/.test(text) && text === text.trim()
  if (isPlain && !/^=\?base64\?.*\?=$/.test(text)) return text
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte))
  return `=?base64?${btoa(bytes.join(''))}?=`
}

function entriesOf(value: unknown): readonly [string, unknown][] {
  return isObject(value) ? Object.entries(value) : []
}
