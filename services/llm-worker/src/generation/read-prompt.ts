import type { Blobs } from '@mcp-host/bus'
import type { GenerateRequest, Media, PromptMessage } from '@mcp-host/contracts'
import { BusError, Prompt } from '@mcp-host/contracts'

/**
 * What the model is to be asked, also where only a reference to it or to a file stands in the request.
 * Throws `not-found`, `unavailable` or `invalid`.
 */
export async function readPrompt(
  blobs: Pick<Blobs, 'get'>,
  request: GenerateRequest,
): Promise<Pick<GenerateRequest, 'messages' | 'tools'>> {
  const { messages, tools } = await readWhole(blobs, request)
  return { messages: await Promise.all(messages.map((each) => withFiles(blobs, each))), tools }
}

async function readWhole(
  blobs: Pick<Blobs, 'get'>,
  { prompt, messages, tools }: GenerateRequest,
): Promise<Pick<GenerateRequest, 'messages' | 'tools'>> {
  if (prompt === undefined) return { messages, tools }
  const json: unknown = JSON.parse(Buffer.from(await blobs.get(prompt.key)).toString())
  const parsed = Prompt.safeParse(json)
  if (!parsed.success) throw BusError.fromZod(parsed.error, 'prompt')
  return parsed.data
}

async function withFiles(
  blobs: Pick<Blobs, 'get'>,
  message: PromptMessage,
): Promise<PromptMessage> {
  if (message.role === 'user') return load(blobs, message)
  if (message.role === 'assistant') return message
  return {
    ...message,
    answers: await Promise.all(message.answers.map((answer) => load(blobs, answer))),
  }
}

/** With the files themselves. Of one that is not there any more the model is told. */
async function load<T extends { text: string; media?: Media[] | undefined }>(
  blobs: Pick<Blobs, 'get'>,
  message: T,
): Promise<T> {
  if (message.media === undefined) return message
  const media: Media[] = []
  let { text } = message
  for (const { blob, ...file } of message.media) {
    if (blob === undefined) {
      media.push(file)
      continue
    }
    try {
      const data = Buffer.from(await blobs.get(blob.key)).toString('base64')
      media.push({ ...file, data })
    } catch (error) {
      if (BusError.from(error).code !== 'not-found') throw error
      text += `\n[The file ${file.name ?? file.mimeType} is not kept any more.]`
    }
  }
  return { ...message, text, media }
}
