import type { CallToolResult, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

import { FileError } from '../access/file-error.ts'
import type { FileTree } from '../access/file-tree.ts'
import { showPath } from '../access/parse-path.ts'
import { writeFile } from '../content/write-file.ts'
import { PathField } from './fields.ts'
import { toResult } from './result.ts'

const Input = z.object({
  path: PathField,
  content: z.string().describe('The text, or the bytes in base64'),
  encoding: z
    .enum(['text', 'base64'])
    .default('text')
    .describe('text is written in UTF-8; base64 is for any bytes'),
  mode: z
    .enum(['create', 'overwrite', 'append'])
    .default('create')
    .describe(
      'create refuses an existing file; overwrite replaces it; append adds to its end. The last two make a missing file.',
    ),
  createFolders: z.boolean().default(false).describe('Makes the missing folders of the path'),
})

const Output = z.object({
  path: z.string(),
  bytes: z.number().describe('The bytes that were written'),
  isNew: z.boolean().describe('Whether the file did not exist before'),
})

export function registerFsWrite(server: McpServer, tree: FileTree): void {
  server.registerTool(
    'fs_write',
    {
      title: 'Write a file',
      description: `Writes a file, at most ${tree.limits.maxWriteBytes} bytes a call. An overwritten file has all of its new content or the old one.`,
      inputSchema: Input,
      outputSchema: Output,
      annotations: {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: false,
      },
    },
    (args, { mcpReq }) => write(tree, args, mcpReq.signal),
  )
}

function write(
  tree: FileTree,
  { path: given, content, encoding, mode, createFolders }: z.infer<typeof Input>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  return tree.use(given, signal, async (path, stack) => {
    const bytes = toBytes(content, encoding, given)
    const { maxWriteBytes } = tree.limits
    if (bytes.length > maxWriteBytes) {
      const remedy = 'write the rest with the mode "append"'
      throw new FileError(given, `the content has over ${maxWriteBytes} bytes; ${remedy}`)
    }
    const isNew = await writeFile(tree, path, bytes, { mode, createFolders, signal }, stack)
    const shown = showPath(path.root, path.parts)
    const output = { path: shown, bytes: bytes.length, isNew } satisfies z.infer<typeof Output>
    const action = isNew ? 'Created' : mode === 'append' ? 'Appended to' : 'Replaced'
    return toResult(output, `${action} ${shown}: ${bytes.length} bytes`)
  })
}

function toBytes(content: string, encoding: 'text' | 'base64', given: string): Buffer {
  const bytes = Buffer.from(content, encoding === 'text' ? 'utf8' : 'base64')
  // Node skips what is no base64.
  const isExact = encoding === 'text' || bytes.toString('base64') === content.replaceAll(/\s/g, '')
  if (!isExact) throw new FileError(given, 'the content is no base64; correct it, or use text')
  return bytes
}
