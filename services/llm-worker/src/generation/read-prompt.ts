import type { Blobs } from '@mcp-host/bus'
import type { GenerateRequest } from '@mcp-host/contracts'
import { BusError, Prompt } from '@mcp-host/contracts'

/**
 * What the model is to be asked, also where only a reference to it stands in the request. Throws
 * `not-found`, `unavailable` or `invalid`.
 */
export async function readPrompt(
  blobs: Pick<Blobs, 'get'>,
  { prompt, messages, tools }: GenerateRequest,
): Promise<Pick<GenerateRequest, 'messages' | 'tools'>> {
  if (prompt === undefined) return { messages, tools }
  const json: unknown = JSON.parse(Buffer.from(await blobs.get(prompt.key)).toString())
  const parsed = Prompt.safeParse(json)
  if (!parsed.success) throw BusError.fromZod(parsed.error, 'prompt')
  return parsed.data
}
