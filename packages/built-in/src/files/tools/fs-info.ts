import type { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

import type { FileTree } from '../access/file-tree.ts'
import { showPath, toUri } from '../access/parse-path.ts'
import { mimeTypeOf } from '../content/mime-type.ts'
import { typeOf } from '../content/walk-tree.ts'
import { EntryTypeField, PathField } from './fields.ts'
import { toResult } from './result.ts'

const Output = z.object({
  path: z.string(),
  uri: z.string().describe('The URI of the resource'),
  type: EntryTypeField,
  modified: z.iso.datetime(),
  isReadOnly: z.boolean().describe('Whether the root refuses changes'),
  size: z.number().optional().describe('Bytes of a file'),
  mimeType: z.string().optional().describe('Of a file, by the ending of its name'),
})

export function registerFsInfo(server: McpServer, tree: FileTree): void {
  server.registerTool(
    'fs_info',
    {
      title: 'Describe a file or folder',
      description: 'Type, size, time of the last change and MIME type of one file or folder.',
      inputSchema: z.object({ path: PathField }),
      outputSchema: Output,
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    ({ path: given }, { mcpReq }) =>
      tree.use(given, mcpReq.signal, async (path, stack) => {
        const { stats } = await tree.open(path, stack)
        const type = typeOf(stats)
        const name = path.parts.at(-1) ?? ''
        const output = {
          path: showPath(path.root, path.parts),
          uri: toUri(path.root, path.parts),
          type,
          modified: stats.mtime.toISOString(),
          isReadOnly: path.root.readOnly === true,
          ...(type === 'file' ? { size: Number(stats.size), mimeType: mimeTypeOf(name) } : {}),
        } satisfies z.infer<typeof Output>
        return toResult(output, JSON.stringify(output))
      }),
  )
}
