import { McpServer } from '@modelcontextprotocol/server'

import { FileTree, type Walk } from './access/file-tree.ts'
import type { FilesOptions } from './access/files-options.ts'
import { registerResources } from './resources/resources.ts'
import { registerSubscriptions } from './resources/subscriptions.ts'
import { registerFsInfo } from './tools/fs-info.ts'
import { registerFsList } from './tools/fs-list.ts'
import { registerFsRead } from './tools/fs-read.ts'
import { registerFsSearch } from './tools/fs-search.ts'
import { registerFsWrite } from './tools/fs-write.ts'

export type { FilesRoot } from './access/files-options.ts'

/**
 * An MCP server for the files below some folders. No path leads out of them, whatever clients ask for and whatever links
 * other programs make meanwhile. Throws when the options cannot be served.
 */
export function createFilesServer(options: FilesOptions, version: string, walk?: Walk): McpServer {
  const tree = new FileTree(options, walk)
  const server = new McpServer({ name: 'files', version })
  registerFsList(server, tree)
  registerFsInfo(server, tree)
  registerFsRead(server, tree)
  registerFsSearch(server, tree)
  if (tree.roots.some(({ readOnly }) => readOnly !== true)) registerFsWrite(server, tree)
  registerSubscriptions(server, tree)
  registerResources(server, tree)
  return server
}
