import type { Blobs } from '@mcp-host/bus'
import type {
  GenerateRequest,
  Media,
  PromptMessage,
  SessionId,
  ToolAnswer,
} from '@mcp-host/contracts'
import { BusError, Prompt } from '@mcp-host/contracts'

/** The largest total size of the files of one request, since providers refuse more. The newest files are kept. */
const MAX_FILE_BYTES = 20 * 1024 * 1024

/** Loads the messages and tools of a request, with the files that they refer to. Throws `unavailable` or `invalid`. */
export async function readPrompt(
  blobs: Pick<Blobs, 'get'>,
  request: GenerateRequest,
): Promise<Pick<GenerateRequest, 'messages' | 'tools'>> {
  const { messages, tools } = await readWhole(blobs, request)
  const files = new Files(blobs, request.session)
  const loaded: PromptMessage[] = []
  for (const message of messages.toReversed()) loaded.push(await withFiles(files, message))
  return { messages: loaded.toReversed(), tools }
}

async function readWhole(
  blobs: Pick<Blobs, 'get'>,
  { prompt, messages, tools }: GenerateRequest,
): Promise<Pick<GenerateRequest, 'messages' | 'tools'>> {
  if (prompt === undefined) return { messages, tools }
  const json: unknown = JSON.parse(Buffer.from(await blobs.get(prompt.key, prompt)).toString())
  const parsed = Prompt.safeParse(json)
  if (!parsed.success) throw BusError.fromZod(parsed.error, 'prompt')
  return parsed.data
}

async function withFiles(files: Files, message: PromptMessage): Promise<PromptMessage> {
  if (message.role === 'user') return files.load(message)
  if (message.role === 'assistant') return message
  const answers: ToolAnswer[] = []
  for (const answer of message.answers) answers.push(await files.load(answer))
  return { ...message, answers }
}

/** The files of one prompt. */
class Files {
  readonly #blobs: Pick<Blobs, 'get'>
  readonly #session: SessionId
  #left = MAX_FILE_BYTES

  constructor(blobs: Pick<Blobs, 'get'>, session: SessionId) {
    this.#blobs = blobs
    this.#session = session
  }

  /** A message with its files. A missing file is reported to the model. */
  async load<T extends { text: string; media?: Media[] | undefined }>(message: T): Promise<T> {
    if (message.media === undefined) return message
    const media: Media[] = []
    let { text } = message
    for (const file of message.media) {
      const found = await this.#get(file)
      if (typeof found === 'string') text += `\n[The file ${file.name ?? file.mimeType} ${found}.]`
      else media.push(found)
    }
    return { ...message, text, media }
  }

  async #get({ blob, ...file }: Media): Promise<Media | string> {
    const bytes = blob?.bytes ?? (file.data?.length ?? 0) * 0.75
    if (bytes > this.#left) return 'is left out here: there are too many, or it is too large'
    this.#left -= bytes
    if (blob === undefined) return file
    // A tool may name any key.
    if (!blob.key.startsWith(`${this.#session}.`)) return 'is not of this session'
    try {
      const data = Buffer.from(await this.#blobs.get(blob.key, blob)).toString('base64')
      return { ...file, data }
    } catch (error) {
      if (BusError.from(error).code === 'not-found') return 'is not kept any more'
      throw error
    }
  }
}
