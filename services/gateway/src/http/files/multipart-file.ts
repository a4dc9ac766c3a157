import { BusError } from '@mcp-host/contracts'

/** Limits for the parts of a form and their heads, since parsing hundreds of thousands would block the event loop. */
const MAX_PARTS = 16
const MAX_HEAD_BYTES = 16 * 1024
const END = Buffer.from('--')
const HEAD_END = '\r\n\r\n'
const EXAMPLE = 'send one file, as `curl -F file=@cat.png` does'

export interface UploadedFile {
  readonly bytes: Uint8Array
  readonly mimeType: string
  /** The file name in the form, if any. */
  readonly name?: string
}

export function isMultipart(contentType = ''): boolean {
  return /^multipart\/form-data\s*(;|$)/i.test(contentType)
}

/** Reads the only file of a form, as browsers and `curl -F` upload it. Throws `invalid`. */
export async function readMultipartFile(
  body: Uint8Array<ArrayBuffer>,
  contentType: string,
): Promise<UploadedFile> {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) throw invalid('the Content-Type has no boundary')
  checkParts(Buffer.from(body.buffer, body.byteOffset, body.length), `--${boundary}`)
  const headers = { 'content-type': contentType }
  const form = await new Response(body, { headers }).formData().catch((cause: unknown) => {
    throw invalid('not a complete multipart form', cause)
  })
  const files = Array.from(form.values()).filter((value) => typeof value !== 'string')
  const [file] = files
  if (file === undefined || files.length > 1) throw invalid(`it has ${files.length} files`)
  return {
    bytes: new Uint8Array(await file.arrayBuffer()),
    mimeType: file.type,
    ...(file.name === '' ? {} : { name: file.name }),
  }
}

/** Throws `invalid` when a form has more parts than are parsed, or one with a longer head. */
function checkParts(body: Buffer, delimiter: string): void {
  let parts = 0
  for (let at = body.indexOf(delimiter); at !== -1; at = body.indexOf(delimiter, at + 1)) {
    const head = body.subarray(at + delimiter.length, at + delimiter.length + MAX_HEAD_BYTES)
    // The last delimiter ends the form.
    if (head.subarray(0, 2).equals(END)) continue
    parts += 1
    if (parts > MAX_PARTS) throw invalid(`more than ${MAX_PARTS} parts`)
    if (head.length === MAX_HEAD_BYTES && !head.includes(HEAD_END))
      throw invalid(`a part with more than ${MAX_HEAD_BYTES} bytes of headers`)
  }
}

function invalid(reason: string, cause?: unknown): BusError {
  return new BusError('invalid', `body: ${reason}; ${EXAMPLE}`, { field: 'body', cause })
}
