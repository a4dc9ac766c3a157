import { z } from 'zod'

export const PathField = z
  .string()
  .describe(
    'ROOT/relative/path, or a file:// URI below a root. With one root its name may be left out.',
  )

export const CursorField = z
  .string()
  .max(16_384)
  .optional()
  .describe('The nextCursor of the page before, with the same other arguments')

export const EntryTypeField = z.enum(['file', 'folder', 'link', 'other'])
