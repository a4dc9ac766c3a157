import * as z from 'zod'

/**
 * The common fields of tools, prompts and resources. They are as strict as those of the SDKs' clients, which refuse a
 * whole list for one faulty item.
 */
export const described = {
  title: z.string().optional(),
  description: z.string().optional(),
  icons: z
    .array(
      z.looseObject({
        src: z.string(),
        mimeType: z.string().optional(),
        sizes: z.array(z.string()).optional(),
        theme: z.enum(['light', 'dark']).optional(),
      }),
    )
    .optional(),
  _meta: z.looseObject({}).optional(),
}
