import { findNodeAtLocation, getNodeValue, type Node } from 'jsonc-parser'

import type { FaultList } from '../../document/fault-list.ts'
import { fieldPath } from '../../document/json-tree.ts'
import { nodeOf, propertyOf } from '../../document/make-nodes.ts'

/** A value of the file, with its path there. */
export interface Written {
  readonly node: Node
  readonly path: string
}

/** A member of a written object; undefined when it is missing or null. */
export function memberOf({ node, path }: Written, key: string): Written | undefined {
  const member = findNodeAtLocation(node, [key])
  if (member === undefined || member.type === 'null') return undefined
  return { node: member, path: fieldPath(path, key) }
}

export function valueOf(written: Written | undefined): unknown {
  return written && getNodeValue(written.node)
}

/** Adds a fault at a value of the file. */
export function refuse(
  faults: FaultList,
  { node, path }: Written,
  message: string,
  remedy: string,
): void {
  faults.add(node.offset, path, message, remedy)
}

/** An object in the form of this host. Each field remembers the value of the file that it comes from. */
export class Draft {
  /** The object of the file. */
  readonly written: Written
  readonly #properties = new Map<string, Node>()
  readonly #keyOffsets = new Map<string, number>()
  /** Paths in the file, by the paths below this object. */
  readonly #paths = new Map<string, string>()
  #length: number

  constructor(written: Written) {
    this.written = written
    this.#length = written.node.length
  }

  /** Extends the place of the object to the end of another one, whose faults then count as its own. */
  extendTo({ written: { node } }: Draft): void {
    this.#length = node.offset + node.length - this.written.node.offset
  }

  get(name: string): Node | undefined {
    return this.#properties.get(name)
  }

  /** The path in the file of a field that is set. */
  pathOf(name: string): string {
    return this.#paths.get(name) ?? this.written.path
  }

  /** Sets a field to a node. `from`: the path of its value in the file. `keyOffset`: the place of its key there. */
  put(name: string, value: Node, from: string, keyOffset = value.offset): void {
    this.#properties.set(name, value)
    this.#keyOffsets.set(name, keyOffset)
    this.#paths.set(name, from)
  }

  putText(name: string, text: string, from: Written): void {
    this.put(name, nodeOf('string', from.node, text), from.path)
  }

  putObject(name: string, draft: Draft): void {
    this.put(name, draft.build(), draft.written.path)
    for (const [path, from] of draft.#paths) this.#paths.set(fieldPath(name, path), from)
  }

  /** Sets a list of values that come from different places. */
  putList(name: string, items: readonly Written[], from: Written): void {
    const nodes = items.map(({ node }) => node)
    this.put(name, nodeOf('array', from.node, nodes), from.path)
    for (const [index, { path }] of items.entries()) {
      this.#paths.set(fieldPath(name, index), path)
    }
  }

  putObjects(name: string, drafts: readonly Draft[], from: Written): void {
    const items = drafts.map((draft) => ({ node: draft.build(), path: draft.written.path }))
    this.putList(name, items, from)
    for (const [index, draft] of drafts.entries()) {
      for (const [path, inFile] of draft.#paths) {
        this.#paths.set(`${fieldPath(name, index)}.${path}`, inFile)
      }
    }
  }

  /** The object as a node, with the place of the file's object. */
  build(): Node {
    const { node } = this.written
    const properties = Array.from(this.#properties, ([name, value]) => {
      const offset = this.#keyOffsets.get(name) ?? value.offset
      return propertyOf(name, { offset, length: 1 }, value)
    })
    const place = { offset: node.offset, length: this.#length }
    return nodeOf('object', place, properties)
  }

  /** The fields as a text that is the same for equal fields, without some of them. */
  textWithout(...names: readonly string[]): string {
    const others = [...this.#properties]
      .filter(([name]) => !names.includes(name))
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
    return JSON.stringify(others.map(([name, value]) => [name, getNodeValue(value) as unknown]))
  }

  /** Tells the faults the paths of the file. `path`: that of this object in the form of this host. */
  registerPaths(path: string, faults: FaultList): void {
    faults.rename(path, this.written.path)
    for (const [field, from] of this.#paths) faults.rename(`${path}.${field}`, from)
  }
}
