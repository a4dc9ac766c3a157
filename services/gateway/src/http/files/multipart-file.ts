import { BusError } from '@mcp-host/contracts'

/** Limit for the parts of a form, since parsing hundreds of thousands would block the event loop. */
const MAX_PARTS = 16
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
  if (hasMoreParts(Buffer.from(body.buffer, body.byteOffset, body.length), `--${boundary}`))
    throw invalid(`more than ${MAX_PARTS} parts`)
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

function hasMoreParts(body: Buffer, delimiter: string): boolean {
  let at = -1
  // A further part ends the form.
  for (let parts = 0; parts <= MAX_PARTS; parts++) {
    at = body.indexOf(delimiter, at + 1)
    if (at < 0) return false
  }
  return body.includes(delimiter, at + 1)
}

function invalid(reason: string, cause?: unknown): BusError {
  return new BusError('invalid', `body: ${reason}; ${EXAMPLE}`, { field: 'body', cause })
}
