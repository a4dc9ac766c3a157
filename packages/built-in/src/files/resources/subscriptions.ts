import { watch } from 'node:fs'

import type { McpServer } from '@modelcontextprotocol/server'

import { FileError } from '../access/file-error.ts'
import type { FileTree } from '../access/file-tree.ts'

/** The time without events before a notification, since a write has several. */
const QUIET_MS = 50

/** Tells the client of changes of the files that it subscribed to, until the connection ends. */
export function registerSubscriptions({ server }: McpServer, tree: FileTree): void {
  const subscriptions = new Subscriptions(tree, (uri) => {
    server.sendResourceUpdated({ uri }).catch(() => {
      // The connection has ended.
    })
  })
  server.registerCapabilities({ resources: { subscribe: true, listChanged: false } })
  server.setRequestHandler('resources/subscribe', async ({ params }, { mcpReq }) => {
    await subscriptions.add(params.uri, mcpReq.signal)
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    subscriptions.remove(params.uri)
    return {}
  })
  Object.assign(server, { onclose: () => subscriptions.clear() })
}

class Subscriptions {
  readonly #tree: FileTree
  readonly #onChange: (uri: string) => void
  readonly #byUri = new Map<string, Disposable>()
  /** Requests that have not made their watch yet. */
  #pending = 0

  constructor(tree: FileTree, onChange: (uri: string) => void) {
    this.#tree = tree
    this.#onChange = onChange
  }

  async add(uri: string, signal: AbortSignal): Promise<void> {
    if (this.#byUri.has(uri)) return
    const { maxSubscriptions } = this.#tree.limits
    if (this.#byUri.size + this.#pending >= maxSubscriptions) {
      throw new Error(`${maxSubscriptions} subscriptions exist already; end one of them first`)
    }
    this.#pending += 1
    try {
      await this.#watch(uri, signal)
    } finally {
      this.#pending -= 1
    }
  }

  remove(uri: string): void {
    this.#byUri.get(uri)?.[Symbol.dispose]()
    this.#byUri.delete(uri)
  }

  clear(): void {
    for (const uri of this.#byUri.keys()) this.remove(uri)
  }

  /** The folder is watched, since a file that is replaced is another one. */
  #watch(uri: string, signal: AbortSignal): Promise<void> {
    return this.#tree.use(uri, signal, async (path, stack) => {
      const name = path.parts.at(-1)
      if (name === undefined) throw new FileError(uri, 'is a root; subscribe to a file')
      // The file itself must be one that can be read.
      await this.#tree.open(path, stack)
      const folder = await this.#tree.open({ ...path, parts: path.parts.slice(0, -1) }, stack)
      signal.throwIfAborted()
      this.remove(uri)
      this.#byUri.set(uri, this.#subscribe(folder.ownPath, name, uri))
    })
  }

  #subscribe(folder: string, name: string, uri: string): Disposable {
    let timer: NodeJS.Timeout | undefined
    const watcher = watch(folder, { persistent: false }, (_event, changed) => {
      if (changed !== name) return
      timer ??= setTimeout(() => {
        timer = undefined
        this.#onChange(uri)
      }, QUIET_MS)
    })
    watcher.on('error', () => this.remove(uri))
    return {
      [Symbol.dispose]() {
        clearTimeout(timer)
        watcher.close()
      },
    }
  }
}
