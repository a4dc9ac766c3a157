import {
  type ListResourcesResult,
  type McpServer,
  type ReadResourceResult,
  ResourceNotFoundError,
  ResourceTemplate,
} from '@modelcontextprotocol/server'

import { codeOf, FileError, toFileError } from '../access/file-error.ts'
import type { FileTree } from '../access/file-tree.ts'
import { toUri } from '../access/parse-path.ts'
import { mayBeText, mimeTypeOf } from '../content/mime-type.ts'
import { readBytes } from '../content/read-bytes.ts'
import { decodePage } from '../content/text-page.ts'
import { walkTree } from '../content/walk-tree.ts'

/** Files that the list has of one root. The others can be read all the same. */
const MAX_LISTED = 500

/** Files as resources. The list has those that lie directly in the roots; any other can be read by its URI. */
export function registerResources(server: McpServer, tree: FileTree): void {
  const template = new ResourceTemplate('file:///{+path}', {
    list: ({ mcpReq }) => listFiles(tree, mcpReq.signal),
  })
  const description = 'Files below the roots of this server'
  server.registerResource('file', template, { description }, (uri, _variables, { mcpReq }) =>
    readFile(tree, uri.href, mcpReq.signal),
  )
}

async function listFiles(tree: FileTree, signal: AbortSignal): Promise<ListResourcesResult> {
  const lists = tree.roots.map((root) =>
    tree
      .use(root.name, signal, async (path, stack) => {
        const resources: ListResourcesResult['resources'] = []
        const folder = await tree.open(path, stack)
        const limit = tree.limits.maxSearchEntries
        const options = { depth: 1, after: [], limit, given: root.name, signal }
        const walk = walkTree(tree, folder, { ...options, onUnreadable: () => undefined })
        for await (const { parts, name, type, stats } of walk) {
          if (resources.length >= MAX_LISTED) break
          if (type !== 'file') continue
          const size = Number(stats.size)
          resources.push({ uri: toUri(root, parts), name, mimeType: mimeTypeOf(name), size })
        }
        return resources
      })
      .catch((error: unknown) => {
        // The roots that can be read are listed all the same.
        if (error instanceof FileError) return []
        throw error
      }),
  )
  return { resources: (await Promise.all(lists)).flat() }
}

function readFile(tree: FileTree, uri: string, signal: AbortSignal): Promise<ReadResourceResult> {
  return tree.use(uri, signal, async (path, stack) => {
    const place = await tree.open(path, stack).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw toFileError(error, uri)
      throw new ResourceNotFoundError(uri)
    })
    const length = tree.limits.maxReadBytes
    const { bytes, size } = await readBytes(place, uri, { offset: 0, length, signal })
    if (size > bytes.length) {
      throw new FileError(uri, `has over ${length} bytes; read it by pages with fs_read`)
    }
    const mimeType = mimeTypeOf(path.parts.at(-1) ?? '')
    const page = mayBeText(mimeType) ? decodePage(bytes, true) : undefined
    const content = page === undefined ? { blob: bytes.toString('base64') } : { text: page.text }
    return { contents: [{ uri, mimeType, ...content }] }
  })
}
