import { z } from 'zod'

/** The query of a list that is read page by page. */
export const Page = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  before: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('`next` of the page before; without it the first page.'),
})

/** The field of a page that leads to the next one. */
export const next = z
  .string()
  .optional()
  .describe('`before` of the next page; absent on the last one.')
