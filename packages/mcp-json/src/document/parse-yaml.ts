import type { Node } from 'jsonc-parser'
import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node as YamlNode,
  type Pair,
  parseDocument,
  type YAMLError,
} from 'yaml'

import type { FaultList, Range } from './fault-list.ts'
import { nodeOf, propertyOf } from './make-nodes.ts'
import { MAX_DEPTH } from './parse-json.ts'

/** The limit for values that aliases repeat. The same alias in each of 100 servers stays below it. */
const MAX_REPEATED = 10_000
const SYNTAX_REMEDY = 'Correct the syntax here.'

/** Parses one YAML document into the tree of the same JSON. Adds errors to the faults. */
export function parseYaml(text: string, faults: FaultList): Node | undefined {
  // `findDuplicateKeys` reports repeated keys, with their names.
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: false })
  const errors = [...document.errors, ...document.warnings]
  // The parser ran out of stack there; other errors follow from it.
  const tooDeep = errors.find(({ code }) => code === 'RESOURCE_EXHAUSTION')
  for (const error of tooDeep === undefined ? errors : [tooDeep]) addError(error, faults)
  if (faults.count > 0) return undefined
  return new Converter(faults).convert(document.contents, { offset: 0, length: 1 })
}

function addError({ code, message, pos: [offset] }: YAMLError, faults: FaultList): void {
  if (code === 'RESOURCE_EXHAUSTION') {
    return faults.add(offset, '', 'is nested too deeply', 'Remove the levels below this place.')
  }
  if (code === 'MULTIPLE_DOCS') {
    const remedy = 'Keep the first document, up to the line "---".'
    return faults.add(offset, '', 'has several YAML documents', remedy)
  }
  if (code === 'TAG_RESOLVE_FAILED') {
    return faults.add(offset, '', 'has a tag that is not known here', 'Remove the tag.')
  }
  // After the colon some messages quote the text, which may be secret.
  const reason = message.replace(/:\s.*$/s, '').replace(/^[A-Z](?=[a-z])/, lower)
  faults.add(offset, '', `is not valid YAML: ${reason}`, SYNTAX_REMEDY)
}

const lower = (letter: string): string => letter.toLowerCase()

/** Converts the nodes of one document. What an alias stands for has the place of the alias. */
class Converter {
  readonly #faults: FaultList
  readonly #anchors = new Map<string, YamlNode>()
  /** What each alias stood for where it was first met, as an anchor may be set again below it. */
  readonly #targets = new Map<Alias, YamlNode | undefined>()
  readonly #open = new Set<YamlNode>()
  #repeated = 0

  constructor(faults: FaultList) {
    this.#faults = faults
  }

  /** `place`: that of a missing value. `alias`: the place of the alias around the node. */
  convert(node: YamlNode | null, place: Range, alias?: Range): Node | undefined {
    if (node === null) return nodeOf('null', place, null)
    const range = alias ?? rangeOf(node, place)
    if (isAlias(node)) return this.#convertAlias(node, range)
    if (node.anchor !== undefined && alias === undefined) this.#anchors.set(node.anchor, node)
    if (alias !== undefined) this.#repeated += 1
    if (this.#repeated > MAX_REPEATED) {
      const message = `repeats more than ${MAX_REPEATED} values by aliases`
      return this.#refuse(range, message, 'Write fewer aliases (*name).')
    }
    if (isScalar(node)) return this.#convertScalar(node.value, range)
    if (this.#open.size >= MAX_DEPTH) {
      const message = `is nested more than ${MAX_DEPTH} levels deep`
      return this.#refuse(range, message, 'Remove the levels below this place.')
    }
    this.#open.add(node)
    const converted = this.#convertCollection(node, range, alias)
    this.#open.delete(node)
    return converted
  }

  #convertCollection(node: YamlNode, range: Range, alias: Range | undefined): Node | undefined {
    if (isMap(node)) {
      const properties = this.#each(node.items, (pair) => this.#convertPair(pair, range, alias))
      return properties && nodeOf('object', range, properties)
    }
    // A document has scalars, aliases, maps and lists alone, and the parser makes nodes of all items.
    const items = isSeq(node) ? (node.items as (YamlNode | null)[]) : []
    const values = this.#each(items, (item) => this.convert(item, range, alias))
    return values && nodeOf('array', range, values)
  }

  #convertPair({ key, value }: Pair, around: Range, alias: Range | undefined): Node | undefined {
    const name: unknown = isScalar(key) ? key.value : undefined
    // The parser makes nodes of all keys and values; a missing one is null.
    const [named, held] = [key, value] as (YamlNode | null)[]
    const range = alias ?? rangeOf(named ?? null, around)
    if (typeof name !== 'string') {
      return this.#refuse(range, 'is a key that is no text', 'Put the key in quotes.')
    }
    const converted = this.convert(held ?? null, range, alias)
    return converted && propertyOf(name, range, converted)
  }

  #convertAlias(alias: Alias, range: Range): Node | undefined {
    if (!this.#targets.has(alias)) this.#targets.set(alias, this.#anchors.get(alias.source))
    const target = this.#targets.get(alias)
    if (target === undefined) {
      const message = 'is an alias (*name) without its anchor (&name) above it'
      return this.#refuse(range, message, 'Correct its name, or write the value.')
    }
    if (this.#open.has(target)) {
      return this.#refuse(range, 'is an alias that contains itself', 'Write the value.')
    }
    return this.convert(target, range, range)
  }

  #convertScalar(value: unknown, range: Range): Node | undefined {
    if (value === null) return nodeOf('null', range, null)
    const type = typeof value
    if (type === 'string' || type === 'number' || type === 'boolean') {
      return nodeOf(type, range, value)
    }
    // Under the directive %YAML 1.1 a text may be a date.
    return this.#refuse(range, 'is a value that JSON does not have', 'Put it in quotes.')
  }

  /** Undefined after the first fault, so that a large document ends there. */
  #each<Item>(
    items: readonly Item[],
    convert: (item: Item) => Node | undefined,
  ): Node[] | undefined {
    const nodes: Node[] = []
    for (const item of items) {
      const node = convert(item)
      if (node === undefined) return undefined
      nodes.push(node)
    }
    return nodes
  }

  #refuse({ offset }: Range, message: string, remedy: string): undefined {
    this.#faults.add(offset, '', message, remedy)
  }
}

function rangeOf(node: YamlNode | null, around: Range): Range {
  if (!node?.range) return around
  const [offset, end] = node.range
  return { offset, length: Math.max(1, end - offset) }
}
