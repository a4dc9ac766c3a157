import { z } from 'zod'

const Health = z.object({
  model: z
    .object({ provider: z.string(), model: z.string(), notice: z.string().optional() })
    .optional(),
  servers: z.array(
    z.object({
      server: z.string(),
      state: z.string(),
      error: z.string().optional(),
      tools: z.number(),
    }),
  ),
})
export type Health = z.infer<typeof Health>

/** What the gateway says the host can do. Throws when it does not answer. */
export async function fetchHealth(gatewayUrl: string): Promise<Health> {
  const response = await fetch(new URL('/health', gatewayUrl))
  return Health.parse(await response.json())
}
